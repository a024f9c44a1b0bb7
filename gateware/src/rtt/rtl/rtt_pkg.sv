// SPDX-License-Identifier: Apache-2.0
// rtt_pkg.sv - types of the measuring module, and arithmetic of times and TCP sequence numbers.
`resetall
`default_nettype none

package rtt_pkg;

  // CONTROL.mode (device/rtt.rdl).
  typedef enum logic [2:0] {
    ModeAny  = 3'd0,
    ModeUdp  = 3'd1,
    ModeIcmp = 3'd2,
    ModeTag  = 3'd3,
    ModeTcp  = 3'd4
  } mode_e;

  typedef struct packed {
    logic        enable;
    mode_e       mode;
    logic        looped;
    logic [15:0] local_port;   // 0: any
    logic [15:0] remote_port;
    logic [6:0]  tag_offset;
    logic [31:0] timeout;
  } config_t;

  // The start of a packet, as captured by rtt_capture.
  //
  //   head[0] is the first byte on the wire:   | 0 .. 63 first beat | 64 .. 127 second beat |
  typedef struct packed {
    logic [127:0][7:0] head;
    logic [63:0]       keep;    // of the last beat in head
    logic              two;     // head holds two beats
    logic [31:0]       stamp;   // when the first beat passed
  } packet_t;

  // The key that matches an answer with a probe. flow: CRC-32 of addresses and protocol, then the
  // two ports; value: tag, TCP acknowledgement, or ICMP id and sequence.
  typedef struct packed {
    logic [63:0] flow;
    logic [31:0] value;
  } key_t;

  // The result of rtt_parse for a packet.
  typedef struct packed {
    logic        counts;   // a probe (transmit side) or an answer (receive side)
    key_t        key;
    logic [31:0] seq;      // TCP: sequence number of its first byte
    logic        syn;
    logic [31:0] stamp;
  } event_t;

  // Operations of rtt_match's pipeline, one per direction and cycle.
  typedef enum logic [1:0] {
    Nothing,
    Event,   // a probe, an answer
    Scan,    // receive side: end the stamp in this slot if it is too old
    Flush    // clear slot and flow
  } kind_e;

  typedef struct packed {
    kind_e       kind;
    logic        packet;
    event_t      e;
    logic [15:0] slot;
    logic [15:0] flow;
  } op_t;

  // The events of a cycle; each result counter counts one of these.
  typedef struct packed {
    logic tx_packet;
    logic rx_packet;
    logic probe;
    logic resent;
    logic replaced;
    logic ambiguous;
    logic covered;
    logic lost;
    logic answer;
    logic duplicate;
    logic unmatched;
    logic reordered;
    logic sample;
  } pulses_t;

  localparam int unsigned NumPulses = $bits(pulses_t);

  // Returns the ticks from one stamp to a later one less than 2^32 ticks apart.
  function automatic logic [31:0] elapsed(input logic [31:0] now, input logic [31:0] earlier);
    return now - earlier;
  endfunction

  // Compares sequence numbers less than 2^31 apart (RFC 9293 3.4).
  function automatic logic seq_lt(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] d;
    d = a - b;
    return d[31];
  endfunction

  function automatic logic seq_le(input logic [31:0] a, input logic [31:0] b);
    return !seq_lt(b, a);
  endfunction

  // CRC-32C of 256 bits, from 0: a linear mix of both addresses. Each bit of the result is the
  // parity of some bits of the data. Their masks are computed at elaboration, so that no chain of
  // 256 steps is built.
  typedef logic [31:0][255:0] masks_t;

  function automatic masks_t crc_masks();
    masks_t masks;
    logic [31:0] r;  // the CRC of bit i alone: i zeros after a one
    r = 32'h1edc_6f41;
    for (int i = 0; i < 256; i++) begin
      for (int j = 0; j < 32; j++) masks[j][i] = r[j];
      r = {r[30:0], 1'b0} ^ (r[31] ? 32'h1edc_6f41 : 32'd0);
    end
    return masks;
  endfunction

  localparam masks_t CrcMasks = crc_masks();

  function automatic logic [31:0] crc(input logic [255:0] data);
    logic [31:0] r;
    for (int j = 0; j < 32; j++) r[j] = ^(data & CrcMasks[j]);
    return r;
  endfunction

  // The index of a key in a table of 2^bits entries. Consecutive values get different entries, and
  // so do values at any constant distance that is coprime to 2^bits - 1: the sum of the value's
  // digits in base 2^bits, with end-around carry, is the value modulo 2^bits - 1. Two steps of a
  // cycle each: the sums of both halves of the digits, then their sum.
  function automatic logic [15:0] around(input logic [15:0] a, input logic [15:0] b,
                                         input int unsigned bits);
    logic [16:0] sum;
    sum = {1'b0, a} + {1'b0, b};
    return (sum[15:0] & 16'((32'd1 << bits) - 32'd1)) + 16'(sum >> bits);
  endfunction

  function automatic logic [15:0] fold_half(input logic [31:0] value, input bit upper,
                                            input int unsigned bits);
    int unsigned low, from, till;  // low: the digits of the lower half
    logic [15:0] sum;
    low  = ((32 + bits - 1) / bits + 1) / 2;
    from = upper ? low * bits : 0;
    till = upper ? 32 : low * bits;
    sum  = 16'd0;
    for (int unsigned i = 0; i < 32; i += bits) begin
      if (i >= from && i < till) begin
        sum = around(sum, 16'(value >> i) & 16'((32'd1 << bits) - 32'd1), bits);
      end
    end
    return sum;
  endfunction

  function automatic logic [15:0] flow_hash(input logic [63:0] flow);
    return flow[47:32] ^ flow[31:16] ^ flow[15:0];
  endfunction

endpackage

`resetall
