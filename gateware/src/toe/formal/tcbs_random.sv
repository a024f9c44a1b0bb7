// SPDX-License-Identifier: Apache-2.0
// tcbs_random.sv - tcbs.sv beyond the depth of a proof: its inputs by chance, in bursts and pauses.
`timescale 1ns / 1ns
`default_nettype none

module tcbs_random;
  localparam int unsigned Cycles = 300_000;
  int unsigned seed = 1;

  bit clk = 1'b0;
  bit valid, go, fetch_ready, answer, save_ready, saved;
  bit [1:0] flow, watched, value, junk;
  int unsigned odds;

  tcbs #(.Stages(6)) dut (
      .clk_i(clk), .valid_i(valid), .flow_i(flow), .watched_i(watched), .go_i(go), .new_i(value),
      .fetch_ready_i(fetch_ready), .answer_i(answer), .junk_i(junk), .save_ready_i(save_ready),
      .saved_i(saved));

  // Of four possible values one is the rule for a while: one flow, or all.
  function automatic bit often();
    return $urandom_range(7) < odds;
  endfunction

  initial begin
    void'($value$plusargs("seed=%d", seed));
    void'($urandom(seed));
    watched = 2'($urandom);
    for (int unsigned i = 0; i < Cycles; i++) begin
      if (i % 64 == 0) odds = 1 + $urandom_range(7);
      valid = often();
      go = often();
      fetch_ready = often();
      answer = often();
      save_ready = often();
      saved = often();
      flow = 2'($urandom);
      value = 2'($urandom);
      junk = 2'($urandom);
      #1 clk = 1'b1;
      #1 clk = 1'b0;
    end
    // Something has happened: TCBs went to the memory and came back.
    if (dut.evictions_q < Cycles / 100 || dut.returns_q < Cycles / 1000)
      $fatal(1, "%0d evicted, %0d came back", dut.evictions_q, dut.returns_q);
    $display("seed %0d: %0d evicted, %0d of the watched flow came back", seed, dut.evictions_q,
             dut.returns_q);
    $finish;
  end
endmodule
