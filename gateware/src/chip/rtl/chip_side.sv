// SPDX-License-Identifier: Apache-2.0
// chip_side.sv - one of the chip's two processors: hyb_soc with its program, and what surrounds it.
//
//   0x3400_0000   host memory (chip_shared.sv)
//   0x3800_0000   RX buffers, read only; on the TOE's side
//   0x4001_0000   registers (device/chip.rdl)
//
// The rest of the map is hyb_soc's. An access anywhere else is a bus error.
`resetall
`default_nettype none

module chip_side
  import chip_pkg::*;
  import chip_regs_pkg::*;
#(
  parameter int unsigned InstrBits = 17,
  parameter int unsigned DataBits = 17,
  parameter bit Units = 1'b1,
  parameter int unsigned RxBits = 12,      // of word addresses of the RX buffers
  parameter Image = ""                     // of instruction memory, words in hexadecimal
) (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire [63:0] now_i,                // nanoseconds

  output wire          shared_req_o,
  output wire access_t access_o,
  input  wire          shared_ack_i,
  input  wire          shared_err_i,
  input  wire [31:0]   shared_rdata_i,

  input  wire        ring_i,               // the other processor's bell for this one
  output wire        ring_o,

  input  wire [31:0] rx_head_i,
  output wire [31:0] rx_tail_o,
  input  wire [11:0] rx_length_i,
  input  wire [31:0] rx_bad_i,
  input  wire [31:0] rx_full_i,
  input  wire [31:0] tx_underrun_i,
  output wire [RxBits-1:0] rx_read_o,
  input  wire [31:0] rx_data_i,

  output wire        console_valid_o,
  output wire [7:0]  console_o,
  output wire        exit_valid_o,
  output wire [7:0]  exit_o,

  // the DFU's reads, and frames to send
  output wire        ar_valid_o,
  input  wire        ar_ready_i,
  output wire [63:0] ar_addr_o,
  output wire [7:0]  ar_len_o,
  input  wire        r_valid_i,
  output wire        r_ready_o,
  input  wire [63:0] r_data_i,
  input  wire        r_bad_i,
  output wire [63:0] m_tdata_o,
  output wire [7:0]  m_tkeep_o,
  output wire        m_tvalid_o,
  output wire        m_tlast_o,
  input  wire        m_tready_i
);

  wire ext_req, ext_ack, ext_err;
  wire [31:0] ext_rdata;
  logic [14:0] irq;
  logic run_q;
  wire unused_sleep;
  access_t access;
  assign access_o = access;

  hyb_soc #(
    .InstrBits(InstrBits),
    .DataBits(DataBits),
    .Units(Units),
    .Headers(1'b0),
    .Image(Image)
  ) u_soc (
    .clk_i,
    .rst_ni,
    .run_i(run_q),
    .load_valid_i(1'b0),
    .load_addr_i('0),
    .load_data_i('0),
    .ext_req_o(ext_req),
    .ext_write_o(access.write),
    .ext_addr_o(access.addr),
    .ext_be_o(access.be),
    .ext_wdata_o(access.wdata),
    .ext_ack_i(ext_ack),
    .ext_err_i(ext_err),
    .ext_rdata_i(ext_rdata),
    .irq_i(irq),
    .sleep_o(unused_sleep),
    .console_valid_o,
    .console_o,
    .exit_valid_o,
    .exit_o,
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_bad_i,
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tready_i
  );

  // ---- where an access goes ----
  localparam int unsigned RegBits = CHIP_REGS_MIN_ADDR_WIDTH;
  typedef enum logic [1:0] {
    Shared,
    Buffers,
    Regs,
    Nothing
  } target_e;

  target_e to, to_q;
  always_comb begin
    if (access.addr[31:24] == 8'h34) to = Shared;
    else if (access.addr[31:RxBits+2] == (30 - RxBits)'(32'h3800_0000 >> (RxBits + 2)) &&
             !access.write) to = Buffers;
    else if (access.addr[31:RegBits] == (32 - RegBits)'(32'h4001_0000 >> RegBits)) to = Regs;
    else to = Nothing;
  end

  assign shared_req_o = ext_req && to == Shared;
  assign rx_read_o = access.addr[RxBits+1:2];

  // ---- registers; a request is held until the block takes it ----
  chip_regs__in_t regs_in;
  chip_regs__out_t regs_out;
  logic req_q, next_q;             // next_q: a buffer or nothing answers a cycle after the request
  logic we_q;
  logic [RegBits-1:0] addr_q;
  logic [31:0] wdata_q;
  logic [3:0] be_q;
  wire rd_stall, wr_stall, rd_ack, wr_ack, rd_err, wr_err;
  wire [31:0] regs_rdata;

  always_ff @(posedge clk_i) begin
    run_q <= rst_ni;
    next_q <= rst_ni && ext_req && (to == Buffers || to == Nothing);
    if (!rst_ni) req_q <= 1'b0;
    else if (ext_req && to == Regs) req_q <= 1'b1;
    else if (!(we_q ? wr_stall : rd_stall)) req_q <= 1'b0;
    if (ext_req) begin
      to_q <= to;
      we_q <= access.write;
      addr_q <= access.addr[RegBits-1:0];
      wdata_q <= access.wdata;
      be_q <= access.be;
    end
  end

  chip_regs u_regs (
    .clk(clk_i),
    .rst(!rst_ni),
    .s_cpuif_req(req_q),
    .s_cpuif_req_is_wr(we_q),
    .s_cpuif_addr(addr_q),
    .s_cpuif_wr_data(wdata_q),
    .s_cpuif_wr_biten({{8{be_q[3]}}, {8{be_q[2]}}, {8{be_q[1]}}, {8{be_q[0]}}}),
    .s_cpuif_req_stall_wr(wr_stall),
    .s_cpuif_req_stall_rd(rd_stall),
    .s_cpuif_rd_ack(rd_ack),
    .s_cpuif_rd_err(rd_err),
    .s_cpuif_rd_data(regs_rdata),
    .s_cpuif_wr_ack(wr_ack),
    .s_cpuif_wr_err(wr_err),
    .hwif_in(regs_in),
    .hwif_out(regs_out)
  );

  assign ext_ack = next_q || shared_ack_i || rd_ack || wr_ack;
  assign ext_err = to_q == Nothing || (to_q == Shared && shared_err_i) ||
                   (to_q == Regs && (we_q ? wr_err : rd_err));
  assign ext_rdata = (to_q == Shared) ? shared_rdata_i : (to_q == Buffers) ? rx_data_i : regs_rdata;

  // ---- time, bells ----
  logic bell_q, clear_q, ring_q, timer_q;
  wire frame = rx_head_i != regs_out.RX_TAIL.v.value;
  always_ff @(posedge clk_i) begin
    clear_q <= rst_ni && regs_out.BELL_CLEAR.v.swmod;
    ring_q <= rst_ni && regs_out.BELL.v.swmod;
    bell_q <= rst_ni && (ring_i || (bell_q && !clear_q));
    timer_q <= rst_ni && now_i >= {regs_out.WAKE_HIGH.v.value, regs_out.WAKE_LOW.v.value};
  end
  assign ring_o = ring_q;
  assign rx_tail_o = regs_out.RX_TAIL.v.value;
  assign irq = {11'd0, timer_q, 1'b0, frame, bell_q};

  always_comb begin
    regs_in.BLOCK.NEXT.v.next = '0;
    regs_in.NOW_LOW.v.next = now_i[31:0];
    regs_in.NOW_HIGH.v.next = now_i[63:32];
    regs_in.PENDING.bell.next = bell_q;
    regs_in.PENDING.frame.next = frame;
    regs_in.PENDING.timer.next = timer_q;
    regs_in.RX_HEAD.v.next = rx_head_i;
    regs_in.RX_LENGTH.v.next = rx_length_i;
    regs_in.RX_BAD.v.next = rx_bad_i;
    regs_in.RX_FULL.v.next = rx_full_i;
    regs_in.TX_UNDERRUN.v.next = tx_underrun_i;
  end

endmodule

`resetall
