// SPDX-License-Identifier: Apache-2.0
// chip_mac_tx.sv - words of frames to a GMII: preamble, bytes, padding to 60, FCS, a gap of 12 bytes (IEEE
// 802.3, clauses 4 and 35). All of it is in the clock that the PHY samples with. A frame cannot wait
// once it has begun: when its next word is late, the rest is sent with tx_er, and dropped by the peer.
`resetall
`default_nettype none

module chip_mac_tx
  import chip_pkg::*;
(
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  output wire        ready_o,
  input  wire word_t word_i,

  output logic [7:0] txd_o,
  output logic       tx_en_o,
  output logic       tx_er_o,
  output logic       underrun_o   // changes with each frame that is late
);

  typedef enum logic [2:0] {
    Idle,
    Preamble,
    Data,
    Late,      // the rest of a frame that is sent with an error
    Pad,
    Fcs,
    Gap
  } state_e;

  localparam logic [5:0] Least = 6'd60;   // bytes without FCS
  localparam logic [3:0] GapBytes = 4'd12;

  state_e state_q;
  logic [3:0] count_q;                    // bytes of Preamble, Fcs, Gap
  logic [1:0] byte_q;                     // of the word at hand
  logic [5:0] length_q;                   // bytes of the frame, up to Least
  logic [31:0] crc_q;
  wire [31:0] fcs = ~crc_q;
  wire last_byte = byte_q == word_i.more;
  wire long = length_q + 6'd1 >= Least;   // with the byte at hand
  assign ready_o = valid_i && (state_q == Data || state_q == Late) &&
                   (last_byte || state_q == Late);

  logic [7:0] data;
  always_comb begin
    unique case (state_q)
      Preamble: data = (count_q == 4'd7) ? 8'hd5 : 8'h55;
      Data: data = word_i.data[8*byte_q+:8];
      Fcs: data = fcs[8*count_q[1:0]+:8];
      default: data = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    txd_o <= data;
    tx_en_o <= rst_ni && state_q != Idle && state_q != Gap;
    tx_er_o <= rst_ni && (state_q == Late || (state_q == Data && !valid_i));
    if (state_q == Preamble) crc_q <= '1;
    else if (state_q == Data || state_q == Pad) crc_q <= crc_byte(crc_q, data);
    if (state_q == Preamble) length_q <= '0;
    else if (!long) length_q <= length_q + 6'd1;
    count_q <= count_q + 4'd1;
    byte_q <= (state_q == Data && !last_byte) ? byte_q + 2'd1 : '0;
    unique case (state_q)
      Idle: begin
        count_q <= '0;
        if (valid_i) state_q <= Preamble;
      end
      Preamble: if (count_q == 4'd7) state_q <= Data;
      Data: begin
        count_q <= '0;
        if (!valid_i) begin
          state_q <= Late;
          underrun_o <= !underrun_o;
        end else if (last_byte && word_i.last) state_q <= long ? Fcs : Pad;
      end
      Late: begin
        count_q <= '0;
        if (valid_i && word_i.last) state_q <= Gap;
      end
      Pad: begin
        count_q <= '0;
        if (long) state_q <= Fcs;
      end
      Fcs: if (count_q == 4'd3) begin
        state_q <= Gap;
        count_q <= '0;
      end
      Gap: if (count_q == GapBytes - 4'd2) state_q <= Idle;
      default: state_q <= Idle;
    endcase
    if (!rst_ni) begin
      state_q <= Idle;
      underrun_o <= 1'b0;
    end
  end

  wire unused = word_i.bad;

endmodule

`resetall
