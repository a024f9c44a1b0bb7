// SPDX-License-Identifier: Apache-2.0
// fpc_cubic.sv - computes what an ACK does to a window in congestion avoidance, by CUBIC (RFC 9438),
// bit for bit as core/src/cc/cc_cubic.c. One multiplier, and one divider that takes a bit a cycle, outside
// of the FPC's pipeline: about 130 cycles for an ACK, 600 for the one that begins an epoch and needs K,
// the cube root.
//
//   cubic_ask_t in (valid, ready), cubic_t out (valid, ready); one at a time, no state in between
//
// The steps, in core's order: begin an epoch, the acknowledged share of a window, W_est, W_cubic now,
// W_cubic a round trip later, cwnd.
`resetall
`default_nettype none

module fpc_cubic
  import fpc_cubic_pkg::*;
(
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire         valid_i,
  output wire         ready_o,
  input  wire cubic_ask_t ask_i,
  output wire         valid_o,
  input  wire         ready_i,
  output wire cubic_t state_o
);

  localparam logic [31:0] TimeMax = (32'd1 << 27) - 32'd1;  // 137 s: t^3 stays below 2^81
  localparam logic [31:0] WindowMax = 32'h3fff_ffff;
  // C = 0.4 segments / s^3 in units of (2^10 ns)^3, times 2^92.
  localparam logic [31:0] Curve = 32'd2126764793;
  localparam logic [31:0] AlphaNum = 32'd9;                 // Reno's alpha at beta 0.7
  localparam logic [31:0] AlphaDen = 32'd17;

  typedef enum logic [4:0] {
    Idle, Start, Segments, Try, Tried, Age, Share, Shared, Reno, RenoShare, GrowEst, GrownEst,
    Place, Square, Cube, Scale, Scaled, Wide, Window, Compare, Target, Grown, Divide, Bits,
    Multiply, Done
  } step_e;

  step_e step_q, product_to_q, quotient_to_q, curve_to_q, window_to_q;
  cubic_ask_t in_q;
  cubic_t s_q;
  logic [31:0] segments_q, bit_q, at_q, distance_q, curve_q, window_q, room_q;
  logic [32:0] share_q, est_share_q;           // of a window, times 2^32
  logic before_q;                              // the curve is still below W_max

  // ---- the divider: 32 bits of {rest, low} / divisor, rest being less than divisor ----

  logic [31:0] rest_q, low_q, divisor_q;
  logic [5:0] left_q;
  wire [32:0] shifted = {rest_q, low_q[31]};
  wire fits = shifted >= 33'(divisor_q);
  wire [32:0] less = shifted - 33'(divisor_q);

  // ---- the multiplier, three cycles ----

  logic [35:0] a_q;
  logic [31:0] b_q;
  logic [67:0] early_q, product_q;
  always_ff @(posedge clk_i) begin
    early_q <= a_q * b_q;
    product_q <= early_q;
  end

  // ---- the steps ----

  wire [39:0] behind = {s_q.w_max - s_q.cwnd, 8'd0} << 2;
  wire [31:0] age = in_q.stamp - s_q.epoch;
  wire [31:0] distance = (at_q > s_q.k) ? at_q - s_q.k : s_q.k - at_q;
  wire [67:0] bytes = product_q >> 10;
  wire [36:0] alpha = 37'(share_q) * 37'(AlphaNum);
  wire [67:0] est_sum = product_q + 68'(s_q.est_credit);
  wire [31:0] est = s_q.w_est + est_sum[63:32] + (est_share_q[32] ? 32'(in_q.mss) : 32'd0);
  wire [67:0] sum = product_q + 68'(s_q.credit);
  wire [31:0] half_more = s_q.cwnd + (s_q.cwnd >> 1);
  wire [31:0] target = (window_q > half_more) ? half_more : window_q;

  // Begins an epoch where there is none (RFC 9438 4.2): K, W_est.
  task automatic epoch_step();
    unique case (step_q)
      Start: begin
        step_q <= Age;
        if (!s_q.epoch_set) begin
          s_q.epoch <= in_q.stamp;
          s_q.epoch_set <= 1'b1;
          s_q.after_rto <= 1'b0;
          s_q.credit <= 32'd0;
          s_q.est_credit <= 32'd0;
          s_q.w_est <= s_q.cwnd;
          s_q.k <= 32'd0;
          // After a timeout, or a slow start that ended without loss (RFC 9438 4.8, 4.10).
          if (s_q.after_rto || s_q.w_max <= s_q.cwnd) begin
            if (s_q.w_max == 32'd0) s_q.cwnd_prior <= s_q.cwnd;
            s_q.w_max <= s_q.cwnd;
          end else begin
            rest_q <= 32'(behind >> 32);
            low_q <= behind[31:0];
            divisor_q <= 32'(in_q.mss);
            quotient_to_q <= Segments;
            step_q <= Divide;
          end
        end
      end
      // K (RFC 9438 (2)), as the largest with C * K^3 not above, a bit at a time.
      Segments: begin
        segments_q <= low_q;
        bit_q <= 32'd1 << 26;
        step_q <= Try;
      end
      Try: begin
        distance_q <= s_q.k | bit_q;
        curve_to_q <= Tried;
        step_q <= Square;
      end
      Tried: begin
        if (curve_q <= segments_q) s_q.k <= s_q.k | bit_q;
        bit_q <= bit_q >> 1;
        step_q <= bit_q[0] ? Age : Try;
      end
      default: ;
    endcase
  endtask

  // The share of a window that is acknowledged, and W_est with it: once W_est has reached cwnd_prior it
  // grows as Reno's window (RFC 9438 (4), 4.3).
  task automatic estimate_step();
    unique case (step_q)
      Age: begin
        at_q <= age;
        if (age > TimeMax) begin  // the clock stops there
          at_q <= TimeMax;
          s_q.epoch <= in_q.stamp - TimeMax;
        end
        step_q <= Share;
      end
      Share: begin
        share_q <= 33'h1_0000_0000;
        step_q <= Reno;
        if (in_q.acked < s_q.cwnd) begin
          rest_q <= in_q.acked;
          low_q <= 32'd0;
          divisor_q <= s_q.cwnd;
          quotient_to_q <= Shared;
          step_q <= Divide;
        end
      end
      Shared: begin
        share_q <= 33'(low_q);
        step_q <= Reno;
      end
      Reno: begin
        est_share_q <= share_q;
        step_q <= GrowEst;
        if (s_q.w_est < s_q.cwnd_prior) begin
          rest_q <= 32'(alpha >> 32);
          low_q <= alpha[31:0];
          divisor_q <= AlphaDen;
          quotient_to_q <= RenoShare;
          step_q <= Divide;
        end
      end
      RenoShare: begin
        est_share_q <= 33'(low_q);
        step_q <= GrowEst;
      end
      GrowEst: begin
        a_q <= 36'(in_q.mss);
        b_q <= est_share_q[31:0];
        product_to_q <= GrownEst;
        left_q <= 6'd1;
        step_q <= Multiply;
      end
      GrownEst: begin
        s_q.est_credit <= est_sum[31:0];
        s_q.w_est <= (est > WindowMax) ? WindowMax : est;
        window_to_q <= Compare;
        step_q <= Place;
      end
      default: ;
    endcase
  endtask

  // Computes W_cubic at at_q (RFC 9438 (1)), in bytes.
  task automatic window_step();
    unique case (step_q)
      Place: begin
        before_q <= at_q < s_q.k;
        distance_q <= (distance > TimeMax) ? TimeMax : distance;
        curve_to_q <= Wide;
        step_q <= Square;
      end
      Wide: begin
        a_q <= 36'(curve_q);
        b_q <= 32'(in_q.mss);
        product_to_q <= Window;
        left_q <= 6'd1;
        step_q <= Multiply;
      end
      Window: begin
        if (before_q)
          window_q <= (bytes < 68'(s_q.w_max)) ? s_q.w_max - bytes[31:0] : 32'd0;
        else if (bytes + 68'(s_q.w_max) < 68'(WindowMax)) window_q <= s_q.w_max + bytes[31:0];
        else window_q <= WindowMax;
        step_q <= window_to_q;
      end
      default: ;
    endcase
  endtask

  // Computes C * distance^3, in 1/1024 segment, product by product.
  task automatic curve_step();
    unique case (step_q)
      Square: begin
        a_q <= 36'(distance_q);
        b_q <= distance_q;
        product_to_q <= Cube;
        left_q <= 6'd1;
        step_q <= Multiply;
      end
      Cube: begin
        a_q <= product_q[53:18];
        product_to_q <= Scale;
        left_q <= 6'd1;
        step_q <= Multiply;
      end
      Scale: begin
        a_q <= 36'(product_q[63:32]);
        b_q <= Curve;
        product_to_q <= Scaled;
        left_q <= 6'd1;
        step_q <= Multiply;
      end
      Scaled: begin
        curve_q <= product_q[63:32];
        step_q <= curve_to_q;
      end
      default: ;
    endcase
  endtask

  // Computes cwnd from W_cubic now and a round trip later.
  task automatic cwnd_step();
    unique case (step_q)
      Compare: begin
        at_q <= at_q + (in_q.srtt >> 3);
        window_to_q <= Target;
        step_q <= Place;
        if (window_q < s_q.w_est) begin  // the Reno-friendly region (RFC 9438 4.3)
          if (s_q.cwnd < s_q.w_est) s_q.cwnd <= s_q.w_est;
          step_q <= Done;
        end
      end
      // RFC 9438 4.4, 4.5: (target - cwnd) / cwnd for each byte acknowledged.
      Target: begin
        room_q <= target - s_q.cwnd;
        a_q <= 36'(target - s_q.cwnd);
        b_q <= share_q[31:0];
        product_to_q <= Grown;
        left_q <= 6'd1;
        step_q <= (window_q <= s_q.cwnd) ? Done : Multiply;
      end
      Grown: begin
        s_q.credit <= sum[31:0];
        s_q.cwnd <= s_q.cwnd + sum[63:32] + (share_q[32] ? room_q : 32'd0);
        step_q <= Done;
      end
      default: ;
    endcase
  endtask

  // Runs the divider, a bit a cycle, and the multiplier; then continues at product_to_q or quotient_to_q.
  task automatic arithmetic_step();
    unique case (step_q)
      // A quotient above 32 bits saturates.
      Divide: begin
        left_q <= 6'd31;
        step_q <= Bits;
        if (rest_q >= divisor_q) begin
          low_q <= '1;
          step_q <= quotient_to_q;
        end
      end
      Bits: begin
        rest_q <= fits ? less[31:0] : shifted[31:0];
        low_q <= {low_q[30:0], fits};
        left_q <= left_q - 6'd1;
        if (left_q == 6'd0) step_q <= quotient_to_q;
      end
      Multiply: begin
        left_q <= left_q - 6'd1;
        if (left_q == 6'd0) step_q <= product_to_q;
      end
      default: ;
    endcase
  endtask

  always_ff @(posedge clk_i) begin
    unique case (step_q)
      Idle: begin
        in_q <= ask_i;
        s_q <= ask_i.s;
        if (valid_i) step_q <= Start;
      end
      Start, Segments, Try, Tried: epoch_step();
      Age, Share, Shared, Reno, RenoShare, GrowEst, GrownEst: estimate_step();
      Place, Wide, Window: window_step();
      Square, Cube, Scale, Scaled: curve_step();
      Compare, Target, Grown: cwnd_step();
      Divide, Bits, Multiply: arithmetic_step();
      default: if (ready_i) step_q <= Idle;
    endcase
    if (!rst_ni) step_q <= Idle;
  end

  assign ready_o = step_q == Idle;
  assign valid_o = step_q == Done;
  assign state_o = s_q;

  wire unused = &{1'b0, est_sum[67:64], sum[67:64], less[32], product_q[67:64]};

endmodule

`resetall
