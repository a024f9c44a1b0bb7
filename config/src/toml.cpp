/* SPDX-License-Identifier: Apache-2.0 */
/* toml.cpp - the keys of a TOML document (toml.h). */
#define TOML_EXCEPTIONS        1
#define TOML_ENABLE_FORMATTERS 0
#include <cstdio>
#include <exception>
#include <string>

#include <toml++/toml.h>

#include "toml.h"

namespace
{

const char *name_of(toml::node_type type)
{
    switch (type) {
    case toml::node_type::table:
        return "a table";
    case toml::node_type::array:
        return "an array";
    case toml::node_type::floating_point:
        return "a number with a fraction";
    default:
        return "a date or time";
    }
}

/* Appends one "name=value" of a table, or one number of an array (name empty). */
bool append(std::string &out, const std::string &name, const toml::node &value)
{
    if (!out.empty())
        out += ',';
    if (!name.empty())
        out += name + '=';
    if (auto number = value.as_integer())
        out += std::to_string(number->get());
    else if (auto flag = value.as_boolean(); flag && !name.empty())
        out += flag->get() ? "on" : "off";
    else
        return false;
    return true;
}

bool join(std::string &out, const toml::node &value)
{
    if (auto array = value.as_array()) {
        for (const toml::node &element : *array)
            if (!append(out, "", element))
                return false;
        return true;
    }
    for (auto &&[name, element] : *value.as_table())
        if (!append(out, std::string(name.str()), element))
            return false;
    return true;
}

class Reader
{
  public:
    Reader(toml_take take, void *arg) : take_(take), arg_(arg)
    {
    }

    bool document(const toml::table &top)
    {
        for (auto &&[name, value] : top) {
            const std::string key(name.str());
            auto section = value.as_table();

            if (section ? !this->section(key, name, *section) : !leaf("", key, name, value))
                return false;
        }
        return true;
    }

  private:
    bool section(const std::string &name, const toml::key &at, const toml::table &keys)
    {
        if (!give(name, nullptr, TOML_SECTION, nullptr, at))
            return false;
        for (auto &&[key, value] : keys)
            if (!leaf(name, std::string(key.str()), key, value))
                return false;
        return true;
    }

    bool leaf(const std::string &section, const std::string &name, const toml::key &at,
              const toml::node &value)
    {
        std::string text;

        if (auto string = value.as_string()) {
            text = string->get();
            if (text.find('\0') != std::string::npos)
                return give(section, &name, TOML_OTHER, "a text with a zero byte", at);
            return give(section, &name, TOML_STRING, text.c_str(), at);
        }
        if (auto number = value.as_integer())
            return give(section, &name, TOML_INTEGER, std::to_string(number->get()).c_str(), at);
        if (auto flag = value.as_boolean())
            return give(section, &name, TOML_BOOLEAN, flag->get() ? "true" : "false", at);
        if ((value.is_array() || value.is_table()) && join(text, value))
            return give(section, &name, value.is_array() ? TOML_ARRAY : TOML_TABLE, text.c_str(),
                        at);
        return give(section, &name, TOML_OTHER, name_of(value.type()), at);
    }

    bool give(const std::string &section, const std::string *name, toml_kind kind, const char *text,
              const toml::key &at)
    {
        const toml_key key = {section.c_str(), name ? name->c_str() : nullptr, kind, text,
                              static_cast<unsigned>(at.source().begin.line)};

        return take_(arg_, &key);
    }

    toml_take take_;
    void *arg_;
};

} // namespace

extern "C" bool toml_read(const char *text, size_t size, toml_take take, void *arg, unsigned *line,
                          char *err, size_t err_size)
{
    *line = 0;
    err[0] = '\0';
    try {
        return Reader(take, arg).document(toml::parse(std::string_view(text, size)));
    } catch (const toml::parse_error &e) {
        const std::string_view why = e.description();

        *line = static_cast<unsigned>(e.source().begin.line);
        std::snprintf(err, err_size, "%.*s", static_cast<int>(why.size()), why.data());
    } catch (const std::exception &e) { /* no memory */
        std::snprintf(err, err_size, "%s", e.what());
    }
    return false;
}
