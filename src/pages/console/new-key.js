const daySeconds = 24 * 60 * 60;

/**
 * What the API is sent for a new key; what is empty is left out.
 *
 * @param {Record<string, string>} written
 * @param {number} now Unix seconds
 */
export function createBody({ name = '', models = '', days = '', ...limits }, now) {
  const numbers = Object.entries(limits).filter(([, value]) => value !== '');
  return {
    name,
    ...(models === '' ? {} : { models: models.split(',').map((model) => model.trim()) }),
    ...Object.fromEntries(numbers.map(([limit, value]) => [limit, Number(value)])),
    ...(days === '' ? {} : { expires_at: Math.round(now + Number(days) * daySeconds) }),
  };
}
