const daySeconds = 24 * 60 * 60;
const lists = ['scopes', 'addresses', 'routes', 'models', 'channels'];
const texts = ['resolution_max'];
const flags = ['strict', 'end_user_required', 'asset_urls'];

/**
 * @param {Record<string, string>} written
 * @param {number} now Unix seconds
 */
export function createBody(
  { name = '', days = '', day = '', month = '', total = '', link = '', ...rest },
  now,
) {
  const caps = givenOf({ day, month, total });
  return {
    name,
    ...Object.fromEntries(
      Object.entries(givenOf(rest)).map(([field, value]) => [field, valueOf(field, value)]),
    ),
    ...(Object.keys(caps).length === 0 ? {} : { caps }),
    ...(link === '' ? {} : { link_valid_seconds: Number(link) }),
    ...(days === '' ? {} : { expires_at: Math.round(now + Number(days) * daySeconds) }),
  };
}

/** @param {string} field @param {string} value */
function valueOf(field, value) {
  if (lists.includes(field)) return value.split(',').map((item) => item.trim());
  if (flags.includes(field)) return value === 'true';
  return texts.includes(field) ? value : Number(value);
}

/** @param {Record<string, string>} written */
function givenOf(written) {
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== ''));
}

/**
 * @param {{ models: readonly string[], channels: readonly string[] }} names
 * @param {string} currency
 * @param {(word: string) => boolean} may
 * @returns {readonly import('./field.d.ts').Field[]}
 */
export function keyFields({ models, channels }, currency, may) {
  const limits = may('setKeyCaps')
    ? [
        ['day', 'a day'],
        ['month', 'a month'],
        ['total', 'in all'],
      ]
    : [];
  return [
    { name: 'name', label: 'Name' },
    {
      name: 'link',
      label: 'Who gets it',
      param: 'link_valid_seconds',
      choices: [
        ['', 'You: the key is shown here'],
        [String(3 * daySeconds), 'Its owner, through a link that is valid for three days'],
        [String(7 * daySeconds), 'Its owner, through a link that is valid for a week'],
      ],
    },
    {
      name: 'scopes',
      label: 'What it may do',
      value: 'create,read_own',
      choices: [
        ['create,read_own', 'Create, and read what it created'],
        ['create', 'Create only'],
        ['read_own,read_account', 'Read the whole account'],
        ['create,read_own,read_account', 'Create, and read the whole account'],
        ['create,read_own,read_account,manage', 'Everything, including the webhook secret and alerts'],
      ],
    },
    {
      name: 'models',
      label: 'Only for these models (none selected: all)',
      isOptional: true,
      picks: models.map((name) => [name, name]),
    },
    ...limits.map(([name = '', title]) => ({
      name,
      label: `The most the key may spend ${title}, in ${currency} (empty: no cap)`,
      isOptional: true,
      param: 'caps',
    })),
    {
      name: 'days',
      label: 'Expires after this many days (empty: never)',
      isOptional: true,
      param: 'expires_at',
    },
    {
      name: 'channels',
      label: 'Only through these channels (none selected: all)',
      isOptional: true,
      isRare: true,
      picks: channels.map((name) => [name, name]),
    },
    ...limitFields.map((field) => ({ ...field, isRare: true })),
  ];
}

/** @type {readonly import('./field.d.ts').Field[]} */
const limitFields = [
  { name: 'addresses', label: 'Only from these IP addresses or networks (empty: any)', isOptional: true },
  { name: 'requests_per_minute', label: 'Requests per minute (empty: no limit)', isOptional: true },
  { name: 'concurrent_tasks', label: 'Concurrent tasks (empty: no limit)', isOptional: true },
  { name: 'duration_max', label: 'Longest video, in seconds (empty: no limit)', isOptional: true },
  { name: 'resolution_max', label: 'Largest resolution, such as 1080p (empty: no limit)', isOptional: true },
  { name: 'routes', label: 'Only for these operations, by operationId (empty: all)', isOptional: true },
  {
    name: 'end_user_required',
    label: 'Must every request name its end user?',
    value: 'false',
    choices: [
      ['false', 'No'],
      ['true', 'Yes'],
    ],
  },
  {
    name: 'asset_urls',
    label: 'May the key use asset:// media of an upstream account, which all callers share?',
    value: 'false',
    choices: [
      ['false', 'No'],
      ['true', 'Yes'],
    ],
  },
  {
    name: 'strict',
    label: 'A field that has no effect is',
    value: 'false',
    choices: [
      ['false', 'a warning'],
      ['true', 'an error'],
    ],
  },
];
