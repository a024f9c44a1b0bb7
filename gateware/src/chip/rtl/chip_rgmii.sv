// SPDX-License-Identifier: Apache-2.0
// chip_rgmii.sv - a GMII at 1 Gbit/s as the pins of an RGMII (version 1.3) of an ECP5: four bits at each
// edge of the clock, the lower ones first; the second half of the control pin is its first xor the
// error. Delays are in taps of 25 ps.
`resetall
`default_nettype none

module chip_rgmii #(
  parameter int unsigned TxClockDelay = 80,  // the clock's edges are amid its data
  parameter int unsigned RxDelay = 0         // 0: the PHY delays its clock
) (
  input  wire       tx_clk_i,                // 125 MHz
  input  wire [7:0] txd_i,
  input  wire       tx_en_i,
  input  wire       tx_er_i,
  output wire       rgmii_tx_clk_o,
  output wire [3:0] rgmii_txd_o,
  output wire       rgmii_tx_ctl_o,

  output wire       rx_clk_o,
  output logic [7:0] rxd_o,
  output logic      rx_dv_o,
  output logic      rx_er_o,
  input  wire       rgmii_rx_clk_i,
  input  wire [3:0] rgmii_rxd_i,
  input  wire       rgmii_rx_ctl_i
);

  // ---- to the PHY: [4] is the control pin, [5] the clock ----
  wire [5:0] first = {1'b1, tx_en_i, txd_i[3:0]};
  wire [5:0] second = {1'b0, tx_en_i ^ tx_er_i, txd_i[7:4]};
  wire [5:0] out, delayed;
  for (genvar i = 0; i < 6; i++) begin : gen_out
    ODDRX1F u_ddr (.SCLK(tx_clk_i), .RST(1'b0), .D0(first[i]), .D1(second[i]), .Q(out[i]));
    DELAYG #(.DEL_MODE("SCLK_ALIGNED"), .DEL_VALUE(i == 5 ? TxClockDelay : 0)) u_delay (
      .A(out[i]), .Z(delayed[i])
    );
  end
  assign {rgmii_tx_clk_o, rgmii_tx_ctl_o, rgmii_txd_o} = delayed;

  // ---- from the PHY ----
  assign rx_clk_o = rgmii_rx_clk_i;
  wire [4:0] pins = {rgmii_rx_ctl_i, rgmii_rxd_i};
  wire [4:0] late, rising, falling;
  for (genvar i = 0; i < 5; i++) begin : gen_in
    DELAYG #(.DEL_MODE("SCLK_ALIGNED"), .DEL_VALUE(RxDelay)) u_delay (.A(pins[i]), .Z(late[i]));
    IDDRX1F u_ddr (
      .SCLK(rx_clk_o), .RST(1'b0), .D(late[i]), .Q0(rising[i]), .Q1(falling[i])
    );
  end
  always_ff @(posedge rx_clk_o) begin
    rxd_o <= {falling[3:0], rising[3:0]};
    rx_dv_o <= rising[4];
    rx_er_o <= rising[4] ^ falling[4];
  end

endmodule

`resetall
