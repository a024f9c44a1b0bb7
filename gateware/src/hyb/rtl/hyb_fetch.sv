// SPDX-License-Identifier: Apache-2.0
// hyb_fetch.sv - copies bytes of a flow's send buffer into TX slots (S1.9): from any offset of the
// stream, modulo the buffer, to any byte. It computes host addresses itself, from the configuration of
// the queue pair, so that the firmware cannot reach beyond a send buffer. A line at a time:
//
//   host line   | . . a b c d e f |        shift: lanes by which bytes move up
//   TX slots    | . . . . . a b c | d e f . . . . . |
`resetall
`default_nettype none

module hyb_fetch
  import toe_pkg::*;
#(
  parameter int unsigned Qps = 8,
  parameter int unsigned SlotBits = 4   // of TX slots
) (
  input  wire                       clk_i,
  input  wire                       rst_ni,
  input  wire qp_config_t [Qps-1:0] qp_i,
  input  wire [Qps-1:0]             leaves_i,    // nothing more is read for it
  output wire [Qps-1:0]             at_work_o,

  input  wire          go_i,          // ignored while busy_o
  input  wire qp_t     of_qp_i,
  input  wire [15:0]   of_slot_i,
  input  wire [31:0]   from_i,
  input  wire [11:0]   length_i,
  input  wire [SlotBits+10:0] to_i,
  output wire          busy_o,
  output wire          refused_o,     // the last one

  output wire          ar_valid_o,
  input  wire          ar_ready_i,
  output wire [63:0]   ar_addr_o,
  input  wire          r_valid_i,
  output wire          r_ready_o,
  input  wire [511:0]  r_data_i,

  output wire                fill_o,
  output wire [SlotBits+4:0] fill_line_o,
  output wire [63:0]         fill_bytes_o,
  output wire [511:0]        fill_data_o
);

  localparam int unsigned QpBits = (Qps > 1) ? $clog2(Qps) : 1;
  localparam int unsigned Bytes = 2 ** (SlotBits + 11);

  typedef enum logic [2:0] { Idle, Aim, Ask, Data, First, Second } step_e;
  step_e step_q;
  qp_t qp_q;
  logic [15:0] slot_q;
  logic refused_q;
  logic [31:0] from_q, mask_q;
  logic [63:0] base_q;                // of the send buffer
  logic [11:0] left_q;
  logic [SlotBits+11:0] to_q;
  logic [511:0] line_q;
  logic [5:0] shift_q;
  logic [6:0] count_q;                // bytes of the line

  wire [QpBits-1:0] qi = QpBits'(qp_q);
  wire qp_config_t setup = qp_i[qi];
  wire known = int'(qp_q) < int'(Qps) && setup.enable && !leaves_i[qi] &&
               (32'(slot_q) >> setup.slots_log) == '0;
  wire fits = left_q != '0 && left_q <= 12'd2048 && 32'(to_q) + 32'(left_q) <= 32'(Bytes);

  // What is left of the line, of the buffer, of the request.
  wire [31:0] at = from_q & mask_q;
  wire [63:0] addr = base_q + 64'(at);
  wire [31:0] to_end = mask_q - at;   // less one
  wire [6:0] of_line = 7'd64 - 7'(addr[5:0]);
  logic [6:0] count;
  always_comb begin
    count = of_line;
    if (to_end < 32'd64 && 7'(to_end) + 7'd1 < count) count = 7'(to_end) + 7'd1;
    if (left_q < 12'(count)) count = 7'(left_q);
  end

  function automatic logic [511:0] turned(input logic [511:0] data, input logic [5:0] up);
    logic [1023:0] both;
    both = {data, data} << {up, 3'd0};
    return both[1023:512];
  endfunction

  wire [6:0] lane_end = 7'(to_q[5:0]) + count_q;   // behind the last byte; above 64: of two lines
  logic [63:0] bytes;
  always_comb begin
    for (int i = 0; i < 64; i++)
      bytes[i] = (step_q == First) ? 7'(i) >= 7'(to_q[5:0]) && 7'(i) < lane_end
                                   : 7'(i) + 7'd64 < lane_end;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Idle;
      refused_q <= 1'b0;
    end else begin
      unique case (step_q)
        Idle:
        if (go_i) begin
          qp_q <= of_qp_i;
          slot_q <= of_slot_i;
          from_q <= from_i;
          left_q <= length_i;
          to_q <= (SlotBits + 12)'(to_i);
          step_q <= Aim;
        end
        Aim: begin
          base_q <= setup.area + 64'(setup.buffers_at) + (64'(slot_q) << setup.tx_log) +
                    (64'(slot_q) << setup.rx_log);
          mask_q <= (32'd1 << setup.tx_log) - 32'd1;
          refused_q <= !known || !fits;
          step_q <= (known && fits) ? Ask : Idle;
        end
        Ask: begin
          // A queue pair that leaves in between: what is left is not read.
          if (leaves_i[qi] || !setup.enable) begin
            refused_q <= 1'b1;
            step_q <= Idle;
          end else if (ar_ready_i) begin
            count_q <= count;
            shift_q <= to_q[5:0] - addr[5:0];
            step_q <= Data;
          end
        end
        Data:
        if (r_valid_i) begin
          line_q <= turned(r_data_i, shift_q);
          step_q <= First;
        end
        First: step_q <= (lane_end > 7'd64) ? Second : ((left_q == 12'(count_q)) ? Idle : Ask);
        default: step_q <= (left_q == 12'(count_q)) ? Idle : Ask;   // Second
      endcase
      if (step_q == Second || (step_q == First && lane_end <= 7'd64)) begin
        left_q <= left_q - 12'(count_q);
        from_q <= from_q + 32'(count_q);
        to_q <= to_q + (SlotBits + 12)'(count_q);
      end
    end
  end

  assign busy_o = step_q != Idle;
  assign refused_o = refused_q;
  assign ar_valid_o = step_q == Ask && !leaves_i[qi] && setup.enable;
  assign ar_addr_o = addr & ~64'd63;
  assign r_ready_o = step_q == Data;
  assign fill_o = step_q == First || step_q == Second;
  assign fill_line_o = (step_q == First) ? to_q[SlotBits+10:6]
                                         : to_q[SlotBits+10:6] + (SlotBits + 5)'(1);
  assign fill_bytes_o = bytes;
  assign fill_data_o = line_q;
  for (genvar i = 0; i < int'(Qps); i++) begin : gen_at_work
    assign at_work_o[i] = busy_o && qp_q == qp_t'(i);
  end

endmodule

`resetall
