// SPDX-License-Identifier: Apache-2.0
// pcu.sv - any lanes of any slot are written, and any slot's sum cleared. A cycle after a write the sum
// is, modulo 65535, the one before plus each byte with its weight, and 0 only if all was 0: that is
// the folded ones' complement sum. A slot that is not written keeps its sum. So, step by step, for
// every length, alignment and division into pieces.
`default_nettype none

module pcu (
    input wire        clk_i,
    input wire        clear_i,
    input wire        clear_slot_i,
    input wire [7:0]  write_i,
    input wire        slot_i,
    input wire [63:0] data_i
);
  logic first_q = 1'b1;
  logic [1:0][15:0] sum;
  hyb_pcu #(.SlotBits(1)) u_pcu (
      .clk_i, .clear_i, .clear_slot_i, .write_i, .slot_i, .data_i, .sum_o(sum));

  // Of slot 1: what this cycle leaves, not folded.
  wire writes = write_i != '0 && slot_i;
  wire clears = clear_i && clear_slot_i;
  logic [3:0][15:0] words;
  logic [18:0] total;
  always_comb begin
    words = '0;
    for (int l = 0; l < 8; l++) if (write_i[l]) words[l/2][8*(l%2)+:8] = data_i[8*l+:8];
    total = clears ? '0 : 19'(sum[1]);
    for (int i = 0; i < 4; i++) total = total + 19'(words[i]);
  end

  logic [4:0] folds;   // the new sum, and so often 65535
  always_comb begin
    for (int k = 0; k < 5; k++) folds[k] = total == 19'(u_pcu.after) + 19'(65535 * k);
    if (writes) begin
      assert (folds != '0);
      assert ((u_pcu.after == '0) == (total == '0));
    end
  end

  // It is there a cycle later.
  logic [15:0] next_q;
  always_ff @(posedge clk_i) begin
    first_q <= 1'b0;
    next_q <= writes ? u_pcu.after : clears ? '0 : sum[1];
  end
  always_comb if (!first_q) assert (sum[1] == next_q);
endmodule

`default_nettype wire
