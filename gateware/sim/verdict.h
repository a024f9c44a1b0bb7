/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - why the TOE's receive unit has dropped a frame, in the order of the frames
 * (toe_verdict.sv). A frame that it passes on may still be dropped behind it: by toe_conn or by an
 * FPC, which count that without a frame.
 */
#ifndef GATEWARE_SIM_VERDICT_H
#define GATEWARE_SIM_VERDICT_H

#include <cstdint>
#include <deque>

#include "capture.h"
#include "port.h"

namespace sim
{

/* Frames on their way to a capture: a received one waits there until its fate is known. */
class Verdicts
{
  public:
    Verdicts();
    ~Verdicts();
    Verdicts(const Verdicts &) = delete;
    Verdicts &operator=(const Verdicts &) = delete;

    /* A frame that has passed the link, in order. */
    void frame(const Frame &f, bool out, uint64_t now_ns, uint64_t cycle, const Capture &capture);
    /* Records the frames whose fate is known, if there is a capture. */
    void settle(Capture &capture);

    /* From the design. */
    void entered(bool taken);
    void judged(int why);

  private:
    struct Waiting {
        Frame frame; /* empty: there was no capture */
        bool out;
        uint64_t now_ns, cycle;
    };

    std::deque<Waiting> frames_;
    std::deque<int> verdicts_; /* of received frames; kUnknown: not judged yet */
};

} // namespace sim

#endif
