import { taskKinds } from '../base/task-kind.ts';
import { z } from 'zod';
import { failureClasses, moderatedInputs } from '../errors/failure.ts';
import { channelPriceSchema } from '../money/price-schema.ts';
import { imageFactsSchema, videoFactsSchema } from './model-facts.ts';

/**
 * A vendor file defines an adapter as data. docs/vendor-files.md describes every key, and a test verifies that the two
 * agree.
 */

const text = z.string().min(1).max(500);
const count = z.number().int().nonnegative();
const expression = z.string().min(1).max(8_192);
export const costUnit = z
  .string()
  .regex(/^[A-Za-z][A-Za-z _-]{0,31}$/, 'must be the name of a unit, such as credits');
const path = z
  .string()
  .max(500)
  .regex(/^\/[\w\-./~:@!$'()*+,;=?&%{}]*$/, 'must begin with / and be a path such as /jobs/{id}');
const pattern = text.refine((one) => one.split('*').length <= 3, 'must not contain more than two *');
const patterns = z.union([pattern.transform((one) => [one]), z.array(pattern).min(1)]);

const headerName = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the name of a header');
const signedPart = z.enum(['method', 'path', 'query', 'timestamp', 'key', 'body']);

const authenticationSchema = z.union(
  [
    z.strictObject({ bearer: z.literal(true) }),
    z.strictObject({ header: headerName, prefix: z.string().max(50).default('') }),
    z.strictObject({ query: z.string().regex(/^[\w.-]{1,64}$/) }),
    z.strictObject({
      hmac: z.strictObject({
        hash: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
        encoding: z.enum(['hex', 'base64', 'base64url']).default('hex'),
        over: z.array(signedPart).min(1),
        separator: z.string().max(5).default('\n'),
        header: headerName,
        prefix: z.string().max(50).default(''),
        key_header: headerName.optional(),
        timestamp_header: headerName.optional(),
      }),
    }),
    z.strictObject({
      jwt: z.strictObject({
        algorithm: z.enum(['HS256', 'HS384', 'HS512']).default('HS256'),
        lifetime_seconds: z.number().int().min(30).max(86_400).default(1_800),
      }),
    }),
  ],
  'must be one of bearer: true, header, query, hmac and jwt',
);
export type Authentication = z.infer<typeof authenticationSchema>;

const failureRow = z
  .strictObject({
    code: patterns.optional(),
    words: z.array(text).min(1).optional(),
    status: count.optional(),
    outcome: z.enum(['throttled', 'unavailable', 'rejected', 'ambiguous']).optional(),
    class: z.enum(failureClasses),
    input: z.enum(moderatedInputs).optional(),
  })
  .refine(
    ({ code, words, status }) => (code ?? words ?? status) !== undefined,
    'needs a code, words or a status',
  );

/** If a vendor's state is missing from the file, the job is treated as `running`. */
const stateWords = z.enum(['submitted', 'running', 'succeeded', 'failed', 'cancelled', 'expired']);
export type StateWord = z.infer<typeof stateWords>;

const requestMethod = z.enum(['GET', 'POST', 'PUT', 'DELETE']);
const sendingMethod = z.enum(['POST', 'PUT']).default('POST');

const linksSchema = {
  link_life_seconds: count.optional(),
  links_need_key: z.boolean().default(false),
};

const jobSchema = {
  ...linksSchema,
  submit: z.strictObject({ method: sendingMethod, request: expression, accepted: expression }),
  status: z.strictObject({
    path,
    states: z.record(text, stateWords),
    answer: expression,
    /**
     * A second request, which is sent once the state is `succeeded`. Its response overrides that of the status request.
     */
    result: z.strictObject({ path, answer: expression }).optional(),
  }),
  cancel: z
    .strictObject({
      method: requestMethod.default('DELETE'),
      path,
      until: z.enum(['queued', 'running']),
    })
    .optional(),
  list: z.strictObject({ path, max: count.min(2).max(100), answer: expression }).optional(),
  find: z.strictObject({ path, answer: expression }).optional(),
  /** The callback field that contains the state, and the values that mean the job has finished. */
  callback: z
    .strictObject({
      field: z.string().regex(/^[\w-]+(?:\.[\w-]+)*$/, 'must be a path such as data.status'),
      ended: z.array(text).min(1),
    })
    .optional(),
};

const factsTable = <Facts extends z.ZodType>(facts: Facts) =>
  z.strictObject({
    models: z.array(z.strictObject({ model: pattern, facts })).default([]),
    others: facts,
    unoffered: z.array(z.strictObject({ name: pattern, reason: text })).default([]),
  });

const videosSchema = z.strictObject({ facts: factsTable(videoFactsSchema), ...jobSchema });
const imageJobsSchema = z.strictObject({ facts: factsTable(imageFactsSchema), ...jobSchema });
const imagesAtOnceSchema = z.strictObject({
  facts: factsTable(imageFactsSchema),
  image_forms: z.array(z.enum(['url', 'data', 'file'])).default([]),
  generate: z.strictObject({
    method: sendingMethod,
    request: expression,
    answer: expression,
    base64: z.boolean().default(false),
  }),
});

const json: z.ZodType<unknown> = z.json();
const exchangeSchema = z.strictObject({
  send: z.strictObject({
    method: requestMethod,
    path: z.string().startsWith('/'),
    json: json.optional(),
    form: z.record(z.string(), json).optional(),
  }),
  answer: z.strictObject({
    status: z.number().int().min(100).max(599),
    headers: z.record(z.string(), z.string()).default({}),
    json: json.optional(),
    text: z.string().optional(),
  }),
});
export type RecordedExchange = z.infer<typeof exchangeSchema>;

const steps = ['submit', 'generate', 'status', 'cancel', 'list', 'find'] as const;
const stepSchema = z.strictObject({
  do: z.enum(steps),
  exchanges: z.array(exchangeSchema).min(1).max(4),
  expect: z.record(z.string(), json),
});
export type FixtureStep = z.infer<typeof stepSchema>;

const fixtureSchema = z.strictObject({
  name: text,
  kind: z.enum(taskKinds),
  model: text,
  request: z.record(z.string(), json),
  steps: z.array(stepSchema).min(1).max(20),
});
export type Fixture = z.infer<typeof fixtureSchema>;

const day = z
  .templateLiteral([z.int(), '-', z.int(), '-', z.int()])
  .refine((text) => z.iso.date().safeParse(text).success, 'must be a day, such as 2026-11-29');

const aboutSchema = z.strictObject({
  vendor: text,
  inputs: z.string().max(2_000),
  source: text,
  read: z.union([day, z.templateLiteral([z.int(), '-', z.int()])]),
  cost_unit: text.optional(),
  unbilled: z
    .strictObject({
      classes: z.union([z.literal('all'), z.array(z.enum(failureClasses)).min(1)]),
      models: text.optional(),
    })
    .optional(),
  unverified: z.array(text).default([]),
});

const retiredSchema = z.strictObject({
  source: text,
  read: day,
  models: z
    .array(z.strictObject({ model: pattern, on: day }))
    .min(1)
    .max(100),
});

const vendorName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{1,30}$/, 'must be 2-31 lowercase letters, digits and dashes');

export const vendorFileSchema = z
  .strictObject({
    name: vendorName,
    about: aboutSchema,
    authentication: authenticationSchema,
    error: expression,
    unknown_job: z
      .strictObject({ status: count.default(404), codes: z.array(pattern).optional() })
      .prefault({}),
    failures: z.array(failureRow).max(100).default([]),
    /**
     * A free request that requires a valid key. If there is none, keys are checked by asking for a job that does not
     * exist.
     */
    key_check: z.strictObject({ path }).optional(),
    balance: z.strictObject({ path, answer: expression, unit: costUnit }).optional(),
    videos: videosSchema.optional(),
    images: z.union([imageJobsSchema, imagesAtOnceSchema]).optional(),
    retired: retiredSchema.optional(),
    prices: z
      .array(
        z.strictObject({
          model: pattern,
          currency: z.string().regex(/^[A-Z]{3}$/),
          cost: channelPriceSchema,
        }),
      )
      .max(100)
      .default([]),
    fixtures: z.array(fixtureSchema).min(1).max(100),
  })
  .refine(({ videos, images }) => (videos ?? images) !== undefined, 'needs videos or images')
  .refine(
    ({ authentication, ...file }) =>
      !linksNeedKey(file) || 'bearer' in authentication || 'header' in authentication,
    'links_need_key requires the authentication bearer or header',
  );

export type VendorFile = z.infer<typeof vendorFileSchema>;

export function linksNeedKey(file: {
  readonly videos?: object | undefined;
  readonly images?: object | undefined;
}): boolean {
  return [file.videos, file.images].some(
    (part) => part !== undefined && 'links_need_key' in part && part.links_need_key === true,
  );
}

export type VendorJobs = z.infer<typeof videosSchema> | z.infer<typeof imageJobsSchema>;
export type VendorVideos = z.infer<typeof videosSchema>;
export type VendorImageJobs = z.infer<typeof imageJobsSchema>;
export type VendorImages = z.infer<typeof imagesAtOnceSchema>;

export function patternMatcher(given: string): RegExp {
  const parts = given.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`.replace(/\.\*\$$/, ''));
}

export function wordsMatcher(words: readonly string[]): RegExp {
  return new RegExp(words.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|'), 'i');
}
