{% macro list_groups(by) %}
  {#- Return the columns of groups as a list of expressions with names; without groups one constant, which has no name. -#}
  {%- if by is none or (by is not string and by | length == 0) -%}
    {{- return([{'expression': '1', 'name': none}]) -}}
  {%- endif -%}
  {%- set groups = [] -%}
  {%- if by is mapping -%}
    {%- for name, expression in by.items() -%}
      {%- do groups.append({'expression': expression, 'name': name}) -%}
    {%- endfor -%}
  {%- else -%}
    {%- for column in ([by] if by is string else by) -%}
      {%- if not modules.re.match('^([A-Za-z_][A-Za-z0-9_]*|"[^"]+"|`[^`]+`)$', column) -%}
        {%- do exceptions.raise_compiler_error("sqlrank: by=" ~ column ~ " is no column. Give an expression with a name, as in by={'name': '...'}") -%}
      {%- endif -%}
      {%- do groups.append({'expression': column, 'name': column}) -%}
    {%- endfor -%}
  {%- endif -%}
  {{- return(groups) -}}
{% endmacro %}

{% macro group_columns(groups, table='') %}
  {#- Write the columns of groups of a step, separated by commas. -#}
  {%- for _ in groups -%}
    {{- table -}}sqlrank_group_{{- loop.index -}}{%- if not loop.last %}, {% endif -%}
  {%- endfor -%}
{% endmacro %}

{% macro group_keys(groups, table='') %}
  {#- Write the columns of groups under their names, each with a comma; nothing without groups. -#}
  {%- for group in groups if group.name is not none -%}
    {{- table -}}sqlrank_group_{{- loop.index }} AS {{ group.name }},{{ ' ' -}}
  {%- endfor -%}
{% endmacro %}

{% macro source_columns(role, names, columns, groups) %}
  {#- Write the columns that are read of an input, with those of groups. -#}
  {%- for name in names -%}
    {{- columns.get(role ~ '.' ~ name, columns.get(name, name)) }} AS {{ name -}}{%- if not loop.last or groups %}, {% endif -%}
  {%- endfor -%}
  {%- for group in groups -%}
    {{- group.expression }} AS sqlrank_group_{{ loop.index -}}{%- if not loop.last %}, {% endif -%}
  {%- endfor -%}
{% endmacro %}

{% macro check_columns(columns, allowed) %}
  {#- Refuse names of columns that a macro does not read. -#}
  {%- for name in columns if name not in allowed -%}
    {%- do exceptions.raise_compiler_error("sqlrank: columns: '" ~ name ~ "' is not read. There are: " ~ allowed | join(', ')) -%}
  {%- endfor -%}
{% endmacro %}

{% macro check_number(name, value) %}
  {#- Refuse a parameter that is not a number. -#}
  {%- if value is not number -%}
    {%- do exceptions.raise_compiler_error("sqlrank: " ~ name ~ "=" ~ value | tojson ~ " is not a number") -%}
  {%- endif -%}
{% endmacro %}

{% macro check_range(name, value, range, low, high, is_whole, excludes_low) %}
  {#- Refuse a value of a parameter that is not in its range. -#}
  {%- set is_number = value is number and value is not boolean and value >= low and value <= high -%}
  {%- if not is_number or (excludes_low and value == low) or (is_whole and value != value | int) -%}
    {%- do exceptions.raise_compiler_error("sqlrank: " ~ name ~ " is " ~ value | tojson ~ ". It must be " ~ range) -%}
  {%- endif -%}
{% endmacro %}

{% macro refuse_adapter(name, adapters) %}
  {#- Refuse an adapter that a macro has no statement for. -#}
  {%- do exceptions.raise_compiler_error("sqlrank." ~ name ~ " has no SQL for " ~ target.type ~ ". It has for " ~ adapters | join(', ')) -%}
{% endmacro %}
