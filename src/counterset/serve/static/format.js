// Numbers and values as people write them.

const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12, maximumSignificantDigits: 15 });

export function number(value) {
  const size = Math.abs(value);
  if (size && (size < 1e-9 || size >= 1e16)) return String(value);
  return plain.format(value);
}

// A distance: two digits that count.
export function distance(value) {
  return value === null ? "" : number(Number(value.toPrecision(2)));
}

export function percent(share) {
  const whole = Math.round(share * 100);
  if (share > 0 && whole === 0) return "under 1 %";
  return share < 1 && whole === 100 ? "over 99 %" : `${whole} %`;
}

export function withUnit(feature, text, value) {
  const unit = value === 1 ? feature.unit_of_one : feature.unit;
  if (!unit) return text;
  if (unit.includes("{}")) return unit.replace("{}", text);
  return /^[%°]/.test(unit) ? text + unit : `${text} ${unit}`;
}

// A value of a feature, in words.
export function told(feature, value) {
  if (value === null) return feature.missing;
  if (feature.options) return feature.options.find((each) => each.value === value)?.text ?? "?";
  if (feature.is_time) return moment(feature, value).replace("T", " ");
  return withUnit(feature, number(value), value);
}

const DAY = 86_400_000_000; // in microseconds

export function hasHours(feature) {
  return feature.step < DAY;
}

// A moment is coded in microseconds since 1970; as a field takes it, with hours if it has some.
export function moment(feature, value) {
  return new Date(value / 1000).toISOString().slice(0, hasHours(feature) ? 19 : 10);
}

export function readMoment(feature, text) {
  return Date.parse(hasHours(feature) ? `${text}Z` : text) * 1000;
}

export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
