// SPDX-License-Identifier: Apache-2.0
// resp_edge.sv - what toe_resp sends and returns, for any packets and queries, and resets at any
// time: a beat stays until it is taken, and so does a buffer; all beats of a frame are full
// except the last, whose bytes come first and are at least one; a packet is answered by at most
// one frame, which is no longer than the packet or the longest answer, and its buffer is
// returned once, after that; a frame of its own is sent only for a query of an unknown
// neighbour, at most one for each query. By induction, for all time.
`default_nettype none

module resp_edge
  import toe_pkg::*;
(
    input wire         clk_i,
    input wire         rst_ni,
    input wire         packet_valid_i,
    input wire         arp_i,
    input wire         v6_i,
    input wire         vlan_i,
    input wire [11:0]  bytes_i,
    input wire [3:0]   buffer_i,
    input wire [511:0] data_i,
    input wire         free_ready_i,
    input wire         ask_valid_i,
    input wire         ask_v6_i,
    input wire [1:0]   ask_i,
    input wire         tready_i
);
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb if (first_q) assume (!rst_ni);

  own_t own;
  packet_t packet;
  always_comb begin
    own = '0;
    own.mac = 48'h02_0000_0000_01;
    own.ip4 = 32'h0a00_0001;
    own.ip6_on = 1'b1;
    own.ip6 = 128'hfd00_0000_0000_0000_0000_0000_0000_0001;
    own.ip6_link = 128'hfe80_0000_0000_0000_0000_0000_0000_0001;
    packet = '0;
    packet.kind = arp_i ? PkArp : PkEcho;
    packet.tuple.v6 = v6_i;
    packet.vlan = vlan_i;
    packet.bytes = bytes_i;
    packet.seg.buffer = buf_t'(buffer_i);
  end

  logic ready, freed, answer, known, tvalid, tlast;
  buf_t free;
  logic [511:0] tdata;
  logic [63:0] tkeep;
  toe_resp #(.Entries(2)) u_resp (
      .clk_i, .rst_ni, .now_i('0), .own_i(own),
      .packet_valid_i, .packet_ready_o(ready), .packet_i(packet),
      .read_buffer_o(), .read_line_o(), .read_data_i(data_i),
      .free_valid_o(freed), .free_ready_i, .free_o(free),
      .ask_valid_i, .ask_v6_i, .ask_i(128'(ask_i)), .answer_o(answer), .known_o(known), .mac_o(),
      .m_tdata_o(tdata), .m_tkeep_o(tkeep), .m_tvalid_o(tvalid), .m_tlast_o(tlast),
      .m_tready_i(tready_i));

  // The current packet and its progress; frames that queries need and that are not sent.
  logic busy_q = 1'b0, answered_q = 1'b0, inside_q = 1'b0;
  logic [11:0] bytes_q = '0;
  buf_t buffer_q = '0;
  logic [5:0] beats_q = '0;                // of the current frame, sent
  logic [1:0] owed_q = '0;                 // queries: three or more count as three
  always_comb assume (bytes_i >= 12'd34 && bytes_i <= 12'd2048);   // rx_lengths.sv
  wire takes = packet_valid_i && ready && rst_ni;
  wire beat = tvalid && tready_i && rst_ni;
  wire unknown = answer && !known;
  wire asked = beat && tlast && !busy_q;
  always_ff @(posedge clk_i) begin
    if (takes) begin
      bytes_q <= bytes_i;
      buffer_q <= buf_t'(buffer_i);
    end
    if (!rst_ni) {busy_q, answered_q, inside_q, beats_q, owed_q} <= '0;
    else begin
      busy_q <= takes || (busy_q && !(freed && free_ready_i));
      answered_q <= busy_q && !(freed && free_ready_i) && (answered_q || (beat && tlast));
      if (beat) begin
        inside_q <= !tlast;
        beats_q <= tlast ? '0 : beats_q + 6'd1;
      end
      owed_q <= owed_q + 2'(unknown && (owed_q != 2'd3 || asked)) - 2'(asked);
    end
  end

  logic held_q = 1'b0, tlast_q = 1'b0, free_held_q = 1'b0;
  logic [511:0] tdata_q = '0;
  logic [63:0] tkeep_q = '0;
  buf_t free_q = '0;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && tvalid && !tready_i;
    free_held_q <= rst_ni && freed && !free_ready_i;
    {tdata_q, tkeep_q, tlast_q, free_q} <= {tdata, tkeep, tlast, free};
  end

  // step_e of the design, by number.
  localparam logic [3:0] Idle = 4'd0, Judge = 4'd4, Sum0 = 4'd5, Sum2 = 4'd7, Copy = 4'd8,
                         CopyRead = 4'd9, CopyTake = 4'd10, Send0 = 4'd11, Send1 = 4'd12,
                         Free = 4'd13;
  wire [3:0] step = u_resp.step_q;
  wire [3:0] after = u_resp.after_q;
  wire copies = step == Copy || step == CopyRead || step == CopyTake;
  wire sends = step == Send0 || step == Send1;
  wire sums = step >= Sum0 && step <= Sum2;
  wire [11:0] sent = {beats_q, 6'd0};

  always_comb begin
    if (!first_q) begin
      if (held_q) assert (tvalid && tdata == tdata_q && tkeep == tkeep_q && tlast == tlast_q);
      if (free_held_q) assert (freed && free == free_q);
      if (tvalid) begin
        assert (tkeep[0] && (tkeep & (tkeep + 64'd1)) == '0 && (tlast || tkeep == '1));
        assert (busy_q ? !answered_q : owed_q != '0);
        assert (beats_q < 6'd32);
        if (busy_q && beats_q > 6'd1) assert (bytes_q > sent);
        if (!busy_q) assert (beats_q <= 6'd1);
        assert (!freed);
      end
      if (ready) assert (!busy_q && !inside_q);
      if (freed) assert (busy_q && free == buffer_q && !inside_q);
      if (beats_q != '0) assert (inside_q);
      // For induction: the design's registers have the same values.
      assert (step <= Free);
      assert (busy_q == (step != Idle && !(u_resp.sought_q && (sums || sends))));
      if (busy_q) assert (u_resp.p_q.bytes == bytes_q && u_resp.p_q.seg.buffer == buffer_q);
      if (u_resp.sought_q) assert (step == Idle || sums || sends);
      if (answered_q) assert (step == Free);
      if (step == Judge || step == Sum0) assert (u_resp.line_q == '0);
      if (sums) assert (after == Send0 || (!u_resp.sought_q && (after == Copy || after == Free)));
      if (sums || sends) assert (u_resp.line_q == '0);
      if (busy_q) assert (bytes_q >= 12'd34 && bytes_q <= 12'd2048);
      if ((sums && after == Send0) || sends)
        assert (u_resp.out_bytes_q == 7'd42 || u_resp.out_bytes_q == 7'd86);
      if (step == Send1) assert (u_resp.out_bytes_q == 7'd86);
      assert (inside_q == (step == Send1 || (copies && u_resp.line_q != '0)));
      if (copies) assert (beats_q == 6'(u_resp.line_q) && bytes_q > sent);
      else assert (beats_q == 6'(step == Send1));
      if (step == CopyRead || step == CopyTake) assert (u_resp.line_q != '0);
      assert (3'(owed_q) >= 3'(u_resp.seek_q) + 3'(u_resp.sought_q && (sums || sends)));
    end
  end
endmodule

`default_nettype wire
