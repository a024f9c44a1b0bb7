/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - a path of known delay: a frame returns after the MACs' delay, 5 ns per metre of cable,
 * and jitter. It may also be lost or duplicated. Times are exact, not rounded to the module's
 * clock.
 *
 *   cable=METRES,mac=NS,jitter=none|uniform:NS|normal:NS|exp:NS,loss=P,dup=P,seed=N
 */
#ifndef GATEWARE_SIM_PATH_H
#define GATEWARE_SIM_PATH_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <random>
#include <string>

#include <toe/number.h>

#include "port.h"

namespace sim
{

class Path
{
  public:
    explicit Path(const std::string &options)
    {
        for (size_t at = 0; at < options.size();) {
            size_t end = options.find(',', at);
            std::string word = options.substr(at, end == std::string::npos ? end : end - at);
            size_t eq = word.find('=');

            if (eq == std::string::npos || !set(word.substr(0, eq), word.substr(eq + 1)))
                die(word);
            at = end == std::string::npos ? options.size() : end + 1;
        }
        rng_.seed(seed_);
    }

    struct Arrival {
        double ns;
        uint64_t number; /* of the frame, in sending order */
        Frame frame;
        bool operator>(const Arrival &o) const
        {
            return ns > o.ns;
        }
    };

    /* Sends a frame. Returns its arrival time, or a negative number when it is lost. */
    double leave(const Frame &f, double now_ns, uint64_t number)
    {
        std::uniform_real_distribution<double> p(0, 1);

        if (p(rng_) < loss_)
            return -1;
        double at = now_ns + delay();
        in_.push({at, number, f});
        if (p(rng_) < dup_)
            in_.push({at + 2 * mac_, number, f});
        return at;
    }

    bool empty() const
    {
        return in_.empty();
    }
    /* Takes the next frame that has arrived by now_ns; false: none. */
    bool arrived(double now_ns, Arrival &a)
    {
        if (in_.empty() || in_.top().ns > now_ns)
            return false;
        a = in_.top();
        in_.pop();
        return true;
    }

  private:
    [[noreturn]] static void die(const std::string &word)
    {
        std::fprintf(stderr,
                     "--path: '%s' is none of cable=METRES mac=NS jitter=none|uniform:NS|normal:NS|"
                     "exp:NS loss=P dup=P seed=N\n",
                     word.c_str());
        std::exit(2);
    }

    bool set(const std::string &name, const std::string &value)
    {
        size_t colon = value.find(':');

        if (name == "jitter") {
            kind_ = value.substr(0, colon);
            if (colon != std::string::npos)
                return number(value.substr(colon + 1), jitter_) &&
                       (kind_ == "uniform" || kind_ == "normal" || kind_ == "exp");
            return kind_ == "none";
        }
        double v;
        if (!number(value, v))
            return false;
        if (name == "cable")
            cable_ = v;
        else if (name == "mac")
            mac_ = v;
        else if (name == "loss")
            loss_ = v;
        else if (name == "dup")
            dup_ = v;
        else if (name == "seed")
            seed_ = static_cast<uint64_t>(v);
        else
            return false;
        return true;
    }

    static bool number(const std::string &text, double &v)
    {
        return toe_quantity(text.c_str(), nullptr, 0, 1e18, &v, nullptr, 0);
    }

    double delay()
    {
        double fixed = mac_ + 5 * cable_;

        if (kind_ == "uniform")
            return fixed + std::uniform_real_distribution<double>(0, jitter_)(rng_);
        if (kind_ == "normal")
            return fixed + std::abs(std::normal_distribution<double>(0, jitter_)(rng_));
        if (kind_ == "exp")
            return fixed + std::exponential_distribution<double>(1 / jitter_)(rng_);
        return fixed;
    }

    std::mt19937_64 rng_;
    std::string kind_ = "none";
    double cable_ = 3, mac_ = 400, jitter_ = 0, loss_ = 0, dup_ = 0;
    uint64_t seed_ = 1;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> in_;
};

} // namespace sim

#endif
