// SPDX-License-Identifier: Apache-2.0
// chip_pkg.sv - types of the chip: words of frames, the sum at their end.
`resetall
`default_nettype none

package chip_pkg;

  // Up to four bytes of a frame, the first in bits 7:0.
  typedef struct packed {
    logic        bad;    // with last: the frame is to be dropped
    logic        last;
    logic [1:0]  more;   // bytes, less one; without last 3
    logic [31:0] data;
  } word_t;

  // An access of a processor to what surrounds it (hyb_soc's ext_*).
  typedef struct packed {
    logic        write;
    logic [31:0] addr;
    logic [3:0]  be;
    logic [31:0] wdata;
  } access_t;

  // CRC-32 of IEEE 802.3, reflected: the register before the first byte is all ones. Behind a frame
  // with its FCS it is CrcGood.
  localparam logic [31:0] CrcGood = 32'hdebb_20e3;

  function automatic logic [31:0] crc_byte(input logic [31:0] crc, input logic [7:0] data);
    logic [31:0] c;
    c = crc ^ 32'(data);
    for (int i = 0; i < 8; i++) c = (c >> 1) ^ (c[0] ? 32'hedb8_8320 : 32'd0);
    return c;
  endfunction

endpackage

`resetall
