// SPDX-License-Identifier: Apache-2.0
// chip_ecpix5.sv - the chip on a LambdaConcept ECPIX-5 (LFE5UM5G-85F, PHY KSZ9031): clocks, resets, pins
// (ecpix5.lpf). It has never run on one.
//
//   100 MHz / 4 x 30 = 750 MHz; / 6 = 125 MHz for the link, / CoreDiv for the processors
`resetall
`default_nettype none

module chip_ecpix5 #(
  parameter int unsigned CoreDiv = 15,     // 50 MHz
  parameter ToeImage = "",
  parameter HostImage = ""
) (
  input  wire       clk100,
  input  wire       rst_n,
  output wire       eth_rst_n,
  output wire       eth_tx_clk,
  output wire [3:0] eth_tx_data,
  output wire       eth_tx_ctl,
  input  wire       eth_rx_clk,
  input  wire [3:0] eth_rx_data,
  input  wire       eth_rx_ctl,
  output wire       led_red,               // 0: on, when a program has ended
  output wire       led_green              // 0: on, when the chip is out of reset
);

  localparam int unsigned Period = 65536 * CoreDiv * 4 / 3;  // in ns / 65536, of 750 MHz / CoreDiv
  // The PHY needs 10 ms of reset: 2^20 periods of 75 MHz are 14 ms.
  localparam int unsigned ResetBits = 20;

  wire link_clk, core_clk, locked;
  EHXPLLL #(
    .CLKI_DIV(4),
    .CLKFB_DIV(5),
    .CLKOP_DIV(6),
    .CLKOS_DIV(CoreDiv),
    .CLKOS_ENABLE("ENABLED"),
    .CLKOP_CPHASE(5),
    .CLKOS_CPHASE(5),
    .FEEDBK_PATH("CLKOP")
  ) u_pll (
    .CLKI(clk100),
    .CLKFB(link_clk),
    .RST(1'b0),
    .STDBY(1'b0),
    .ENCLKOP(1'b0),
    .ENCLKOS(1'b0),
    .PHASESEL0(1'b0),
    .PHASESEL1(1'b0),
    .PHASEDIR(1'b1),
    .PHASESTEP(1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC(1'b0),
    .CLKOP(link_clk),
    .CLKOS(core_clk),
    .LOCK(locked)
  );

  wire pll_rst_n;
  logic [ResetBits-1:0] since_q;
  logic up_q;
  chip_reset u_reset (.clk_i(core_clk), .rst_ni(locked && rst_n), .rst_no(pll_rst_n));
  always_ff @(posedge core_clk) begin
    if (!pll_rst_n) since_q <= '0;
    else if (since_q != '1) since_q <= since_q + 1'b1;
    up_q <= pll_rst_n && since_q == '1;
  end
  assign eth_rst_n = up_q;

  wire rx_clk, rx_dv, rx_er, tx_en, tx_er;
  wire [7:0] rxd, txd;
  chip_rgmii u_rgmii (
    .tx_clk_i(link_clk),
    .txd_i(txd),
    .tx_en_i(tx_en),
    .tx_er_i(tx_er),
    .rgmii_tx_clk_o(eth_tx_clk),
    .rgmii_txd_o(eth_tx_data),
    .rgmii_tx_ctl_o(eth_tx_ctl),
    .rx_clk_o(rx_clk),
    .rxd_o(rxd),
    .rx_dv_o(rx_dv),
    .rx_er_o(rx_er),
    .rgmii_rx_clk_i(eth_rx_clk),
    .rgmii_rxd_i(eth_rx_data),
    .rgmii_rx_ctl_i(eth_rx_ctl)
  );

  wire [1:0] exit_valid;
  wire [1:0] unused_console_valid;
  wire [1:0][7:0] unused_console, unused_exit;
  chip #(
    .Period(Period),
    .ToeImage(ToeImage),
    .HostImage(HostImage)
  ) u_chip (
    .clk_i(core_clk),
    .rst_ni(up_q),
    .gmii_rx_clk_i(rx_clk),
    .gmii_rxd_i(rxd),
    .gmii_rx_dv_i(rx_dv),
    .gmii_rx_er_i(rx_er),
    .gmii_tx_clk_i(link_clk),
    .gmii_txd_o(txd),
    .gmii_tx_en_o(tx_en),
    .gmii_tx_er_o(tx_er),
    .console_valid_o(unused_console_valid),
    .console_o(unused_console),
    .exit_valid_o(exit_valid),
    .exit_o(unused_exit)
  );

  logic ended_q;
  always_ff @(posedge core_clk) begin
    if (!pll_rst_n) ended_q <= 1'b0;
    else if (exit_valid != '0) ended_q <= 1'b1;
  end
  assign led_red = !ended_q;
  assign led_green = !up_q;

endmodule

`resetall
