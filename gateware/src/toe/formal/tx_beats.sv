// SPDX-License-Identifier: Apache-2.0
// tx_beats.sv - packets of toe_tx, with payload and without, of both IP versions, with and
// without options: they leave in the order in which they were taken, with as many beats as their
// bytes need, the last one with the rest; toe_tx reads the lines of host memory that contain the
// payload, each once, in the flow's send buffer; and all requested lines are taken before the
// packet leaves. Two packets, as many cycles as edges.toml says.
`default_nettype none

module tx_beats
  import toe_pkg::*;
(
    input wire       clk_i,
    input wire       rst_ni,
    input wire       valid_i,
    input wire       bare_i,
    input wire       v6_i,
    input wire       ts_i,
    input wire [2:0] len_i,
    input wire [2:0] from_i,
    input wire       ar_ready_i,
    input wire       r_valid_i,
    input wire       tready_i
);
  localparam logic [63:0] Buffers = 64'h1_4000;    // of each flow 256 bytes, and as many to receive

  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);

  // Lengths and places at odd ends: up to 91 bytes, from lane 9 or 41.
  wire [6:0] len = 7'(len_i) * 7'd13;
  wire [7:0] from = {from_i, 5'd9};
  qp_config_t [0:0] qp;
  tx_desc_t desc, bare;
  path_t path;
  always_comb begin
    qp = '0;
    qp[0].enable = 1'b1;
    qp[0].area = 64'h1_0000;
    qp[0].buffers_at = 32'h4000;
    qp[0].tx_log = 5'd8;
    qp[0].rx_log = 5'd8;
    bare = '0;
    bare.ts_ok = ts_i;
    desc = bare;
    desc.flow = flow_t'(v6_i);       // flow 0 is of IPv4, flow 1 of IPv6
    desc.len = 16'(len);
    desc.from = 32'(from);
    path = '0;
    path.tuple.v6 = v6_i;
  end

  logic ar, rready, tvalid, tlast, desc_ready, bare_ready;
  logic [63:0] araddr, tkeep;
  logic [7:0] arlen;
  place_t path_at;
  path_t looked_up;                // a cycle later
  logic v6_q = 1'b0;
  always_ff @(posedge clk_i) v6_q <= path_at.index[0];
  always_comb begin
    looked_up = '0;
    looked_up.tuple.v6 = v6_q;
  end

  // Packets that were taken and have not left, the first one at [0]; those whose payload is still to be
  // requested; beats that memory has still to return, and all that it has returned.
  typedef struct packed {
    logic       v6;
    logic       second;            // around the buffer's end
    logic [5:0] lane;              // of its first byte
    logic [1:0] line;              // ... its line
    logic [6:0] piece1;
    logic [6:0] piece2;
    logic [8:0] bytes;
  } packet_t;
  packet_t [3:0] row_q = '0, reads_q = '0;
  logic [2:0] n_q = '0, reads_n_q = '0;
  logic half_q = 1'b0;             // the first piece is requested
  logic [4:0] beat_q = '0;
  logic [5:0] owed_q = '0, had_q = '0, left_with_q = '0;
  wire gives = r_valid_i && owed_q != '0;
  toe_tx #(.Qps(1), .Fpcs(1), .SlotBits(1)) u_tx (
      .clk_i, .rst_ni, .own_i('0), .qp_i(qp), .closed_i(1'b0), .at_work_o(),
      .desc_valid_i(valid_i), .desc_ready_o(desc_ready), .desc_i(desc), .path_at_o(path_at),
      .path_i(looked_up),
      .bare_valid_i(bare_i), .bare_ready_o(bare_ready), .bare_i(bare), .bare_path_i(path),
      .ar_valid_o(ar), .ar_ready_i, .ar_addr_o(araddr), .ar_len_o(arlen),
      .r_valid_i(gives), .r_ready_o(rready), .r_data_i('0),
      .m_tdata_o(), .m_tkeep_o(tkeep), .m_tvalid_o(tvalid), .m_tlast_o(tlast),
      .m_tready_i(tready_i));

  function automatic logic [5:0] lines(input logic [5:0] lane, input logic [6:0] bytes);
    return 6'((8'(lane) + 8'(bytes) + 8'd63) >> 6);
  endfunction
  packet_t taken;
  wire [8:0] to_end = 9'd256 - 9'(from);
  always_comb begin
    taken.v6 = v6_i;
    {taken.line, taken.lane} = from;
    taken.second = !bare_i && 9'(len) > to_end;
    taken.piece1 = bare_i ? '0 : (taken.second ? 7'(to_end) : len);
    taken.piece2 = taken.second ? len - 7'(to_end) : '0;
    taken.bytes = 9'd54 + (v6_i ? 9'd20 : 9'd0) + (ts_i ? 9'd12 : 9'd0) +
                  (bare_i ? 9'd0 : 9'(len));
  end
  wire takes = rst_ni && (bare_i ? bare_ready : valid_i && desc_ready);
  wire asks = ar && ar_ready_i && rst_ni;
  wire beat = tvalid && tready_i && rst_ni;
  wire leaves = beat && tlast;
  wire [2:0] kept = n_q - 3'(leaves);
  wire packet_t next = reads_q[0];
  wire reads_done = asks && (half_q || !next.second);
  wire [2:0] reads_kept = reads_n_q - 3'(reads_done);
  wire has_payload = taken.piece1 != '0;
  packet_t first;
  assign first = row_q[0];
  wire [5:0] of_first = ((first.piece1 == '0) ? 6'd0 : lines(first.lane, first.piece1)) +
                        lines('0, first.piece2);
  logic [1:0] total_q = '0;        // two packets
  always_comb if (total_q == 2'd2) assume (!valid_i && !bare_i);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      n_q <= kept + 3'(takes);
      total_q <= total_q + 2'(takes);
      if (leaves) row_q <= row_q >> $bits(packet_t);
      if (takes) row_q[kept[1:0]] <= taken;
      reads_n_q <= reads_kept + 3'(takes && has_payload);
      if (reads_done) reads_q <= reads_q >> $bits(packet_t);
      if (takes && has_payload) reads_q[reads_kept[1:0]] <= taken;
      if (asks) half_q <= next.second && !half_q;
      owed_q <= owed_q + (asks ? 6'(arlen) + 6'd1 : 6'd0) - 6'(gives && rready);
      had_q <= had_q + 6'(gives && rready);
      if (beat) beat_q <= tlast ? '0 : beat_q + 5'd1;
      if (leaves) left_with_q <= left_with_q + of_first;
    end
  end

  wire [10:0] sent = {beat_q, 6'd0};
  wire [10:0] rest = 11'(first.bytes) - sent;
  wire [63:0] start = Buffers + (next.v6 ? 64'd512 : 64'd0);
  always_comb begin
    if (!first_q) begin
      if (tvalid) begin
        assert (n_q != '0 && sent < 11'(first.bytes));
        assert (tlast == (rest <= 11'd64));
        assert (tkeep == (tlast ? 64'((65'd1 << rest[6:0]) - 65'd1) : '1));
        assert (left_with_q + of_first <= had_q);
      end
      if (ar) begin
        assert (reads_n_q != '0);
        assert (araddr == (half_q ? start : start + {56'd0, next.line, 6'd0}));
        assert (6'(arlen) + 6'd1 == (half_q ? lines('0, next.piece2)
                                            : lines(next.lane, next.piece1)));
      end
      if (u_tx.leaving_valid)      // what tx_edge.sv assumes
        assert (u_tx.leaving.bytes >= 12'd54 && u_tx.leaving.bytes <= 12'd2048);
    end
  end
endmodule

`default_nettype wire
