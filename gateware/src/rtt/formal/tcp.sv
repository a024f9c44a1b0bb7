// SPDX-License-Identifier: Apache-2.0
// tcp.sv - TCP's matching: an acknowledgement gets the stamp of the segment that ends where it does, if
// that was sent once; no stamp is lost or attributed twice. Segments and acknowledgements come in any
// cycle, both at once too, of two connections that share a place, with any small numbers.
`default_nettype none

module tcp
  import rtt_pkg::*;
(
    input wire        clk_i,
    input wire        rst_ni,
    input wire        tx_valid_i,
    input wire        tx_flow_i,
    input wire [ 1:0] tx_seq_i,
    input wire [ 1:0] tx_value_i,  // where it ends
    input wire        tx_syn_i,
    input wire [ 7:0] tx_stamp_i,
    input wire        rx_valid_i,
    input wire        rx_flow_i,
    input wire [ 1:0] rx_value_i,
    input wire        rx_syn_i,
    input wire [ 7:0] rx_stamp_i
);
  localparam int unsigned Slots = 1;  // bits

  // The first cycle is a reset.
  logic first_q = 1'b1;
  always_ff @(posedge clk_i) first_q <= 1'b0;
  always_comb assume (rst_ni == !first_q);
  config_t cfg;
  assign cfg = '{
          enable: 1'b1, mode: ModeTcp, looped: 1'b0, local_port: '0, remote_port: '0,
          tag_offset: '0, timeout: 32'h7fff_ffff
      };
  event_t tx, rx;
  assign tx = '{
          counts: 1'b1, key: '{flow: {62'd0, tx_flow_i, 1'b0}, value: {30'd0, tx_value_i}},
          seq: {30'd0, tx_seq_i}, syn: tx_syn_i, stamp: {24'd0, tx_stamp_i}
      };
  assign rx = '{
          counts: 1'b1, key: '{flow: {62'd0, rx_flow_i, 1'b0}, value: {30'd0, rx_value_i}}, seq: '0,
          syn: rx_syn_i, stamp: {24'd0, rx_stamp_i}
      };

  logic flushing;
  pulses_t pulses;
  logic [31:0] answered, probed, value;
  wire tx_valid = tx_valid_i && !flushing;
  wire rx_valid = rx_valid_i && !flushing;
  rtt_match #(
      .SlotBits(Slots),
      .FlowBits(1),
      .Flushed (1'b1)
  ) u_match (
      .clk_i, .rst_ni, .now_i(32'd255), .config_i(cfg), .flush_i(1'b0), .flushing_o(flushing),
      .tx_valid_i(tx_valid), .tx_i(tx), .rx_valid_i(rx_valid), .rx_i(rx),
      .pulses_o(pulses), .answered_o(answered), .probed_o(probed), .value_o(value));

  // What should be: the same with a table that knows no pipeline, one probe and one answer at a
  // time, the answer first. Then as many cycles late as the module is.
  typedef struct packed {
    logic       used;
    logic       live;
    logic       again;  // sent twice
    logic       flow;
    logic [1:0] value;
    logic [7:0] stamp;
  } entry_t;
  typedef struct packed {
    logic       used;
    logic       flow;
    logic [1:0] highest;
    logic       twice;   // up to mark
    logic [1:0] mark;
  } sent_t;
  entry_t table_q[2];
  sent_t sent_q, sent;
  entry_t rx_entry, tx_entry;
  function automatic logic slot_of(input logic [1:0] value);
    return 1'(around(fold_half({30'd0, value}, 1'b0, Slots), fold_half({30'd0, value}, 1'b1, Slots),
                     Slots));
  endfunction
  wire rx_slot = slot_of(rx_value_i);
  wire tx_slot = slot_of(tx_value_i);

  typedef struct packed {
    logic sample;
    logic ambiguous;
    logic duplicate;
    logic unmatched;
    logic probe;
    logic resent;
    logic replaced;
    logic [7:0] stamp;
  } outcome_t;
  outcome_t want;
  logic tx_again, known, sent_before, fresh;
  always_comb begin
    rx_entry = table_q[rx_slot];
    want = '0;
    if (rx_valid) begin
      want.stamp = rx_entry.stamp;
      if (!rx_entry.used || rx_entry.flow != rx_flow_i || rx_entry.value != rx_value_i)
        want.unmatched = 1'b1;
      else if (!rx_entry.live) want.duplicate = 1'b1;
      // Karn's algorithm: either transmission may be the acknowledged one.
      else if (rx_entry.again || (sent_q.used && sent_q.flow == rx_flow_i && sent_q.twice &&
                                  rx_value_i <= sent_q.mark))
        want.ambiguous = 1'b1;
      else want.sample = 1'b1;
    end
    tx_entry = table_q[tx_slot];
    if ((want.sample || want.ambiguous) && rx_slot == tx_slot) tx_entry.live = 1'b0;
    known = sent_q.used && sent_q.flow == tx_flow_i;
    sent_before = known && (tx_syn_i ? tx_value_i == sent_q.highest : tx_seq_i < sent_q.highest);
    fresh = !known || (tx_syn_i && !sent_before);  // a connection that begins
    tx_again = tx_entry.live && tx_entry.flow == tx_flow_i && tx_entry.value == tx_value_i;
    sent = sent_q;
    if (tx_valid) begin
      want.probe = 1'b1;
      want.resent = tx_again || sent_before;
      want.replaced = tx_entry.live && !want.resent;
      sent.used = 1'b1;
      sent.flow = tx_flow_i;
      if (fresh || tx_value_i > sent_q.highest) sent.highest = tx_value_i;
      sent.twice = want.resent || (!fresh && sent_q.twice && tx_value_i >= sent_q.mark);
      if (want.resent) sent.mark = sent.highest;
    end
  end
  always_ff @(posedge clk_i) begin
    sent_q <= sent;
    if (want.sample || want.ambiguous) table_q[rx_slot].live <= 1'b0;
    if (tx_valid) begin
      if (tx_again) table_q[tx_slot].again <= 1'b1;
      else if (!want.resent) begin
        table_q[tx_slot] <= '{
            used: 1'b1, live: 1'b1, again: 1'b0, flow: tx_flow_i, value: tx_value_i,
            stamp: tx_stamp_i
        };
      end
    end
    if (flushing || !rst_ni) begin
      table_q[0] <= '0;
      table_q[1] <= '0;
      sent_q     <= '0;
    end
  end

  // The module's stages, F to the outcome.
  localparam int unsigned Late = 11;
  outcome_t want_q[Late];
  logic [Late-1:0] known_q = '0;
  always_ff @(posedge clk_i) begin
    want_q[0] <= want;
    for (int i = 1; i < Late; i++) want_q[i] <= want_q[i-1];
    known_q <= {known_q[Late-2:0], !flushing && rst_ni};
  end

  always_comb begin
    if (known_q[Late-1]) begin
      assert (pulses.sample == want_q[Late-1].sample);
      assert (pulses.ambiguous == want_q[Late-1].ambiguous);
      assert (pulses.duplicate == want_q[Late-1].duplicate);
      assert (pulses.unmatched == want_q[Late-1].unmatched);
      assert (pulses.probe == want_q[Late-1].probe);
      assert (pulses.resent == want_q[Late-1].resent);
      assert (pulses.replaced == want_q[Late-1].replaced);
      assert (!pulses.lost && !pulses.covered);
      if (want_q[Late-1].sample) assert (probed == {24'd0, want_q[Late-1].stamp});
    end
  end
endmodule
