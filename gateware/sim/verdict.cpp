/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include <svdpi.h>

namespace sim
{

namespace
{

constexpr int kUnknown = -1;
constexpr int kNoBuffer = 1; /* of toe_verdict.sv's numbers, in the order of capture.cpp */

/* The functions that the design calls have no other way to it: there is one card in a process. */
Verdicts *current;

} // namespace

Verdicts::Verdicts()
{
    current = this;
}

Verdicts::~Verdicts()
{
    current = nullptr;
}

void Verdicts::frame(const Frame &f, bool out, uint64_t now_ns, uint64_t cycle,
                     const Capture &capture)
{
    frames_.push_back({capture.fd() >= 0 ? f : Frame(), out, now_ns, cycle});
}

void Verdicts::settle(Capture &capture)
{
    while (!frames_.empty()) {
        const Waiting &w = frames_.front();
        int why = 0;

        if (!w.out && (verdicts_.empty() || verdicts_.front() == kUnknown))
            return;
        if (!w.out) {
            why = verdicts_.front();
            verdicts_.pop_front();
        }
        if (!w.frame.empty() && capture.fd() >= 0)
            capture.frame(w.frame, w.out, w.now_ns, w.cycle, static_cast<unsigned>(why));
        frames_.pop_front();
    }
}

void Verdicts::entered(bool taken)
{
    verdicts_.push_back(taken ? kUnknown : kNoBuffer);
}

/* Frames are judged in the order in which they were taken in. */
void Verdicts::judged(int why)
{
    for (int &v : verdicts_)
        if (v == kUnknown) {
            v = why;
            return;
        }
}

extern "C" {

void toe_verdict_entered(svBit taken)
{
    if (current)
        current->entered(taken != 0);
}

void toe_verdict_judged(int why)
{
    if (current)
        current->judged(why);
}

} // extern "C"

} // namespace sim
