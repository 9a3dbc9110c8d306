const daySeconds = 24 * 60 * 60;
const lists = ['scopes', 'addresses', 'routes', 'models'];
const texts = ['resolution_max'];
const flags = ['strict', 'end_user_required'];

/**
 * What the API is sent for a new key; what is empty is left out.
 *
 * @param {Record<string, string>} written
 * @param {number} now Unix seconds
 */
export function createBody({ name = '', days = '', ...rest }, now) {
  const chosen = Object.entries(rest).filter(([, value]) => value !== '');
  return {
    name,
    ...Object.fromEntries(chosen.map(([field, value]) => [field, valueOf(field, value)])),
    ...(days === '' ? {} : { expires_at: Math.round(now + Number(days) * daySeconds) }),
  };
}

/** @param {string} field @param {string} value */
function valueOf(field, value) {
  if (lists.includes(field)) return value.split(',').map((item) => item.trim());
  if (flags.includes(field)) return value === 'true';
  return texts.includes(field) ? value : Number(value);
}
