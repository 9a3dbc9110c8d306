import { describe, expect, it } from 'vitest';
import { documentText } from '../../workshop/document.ts';

interface Body {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

const document = JSON.parse(documentText());

function bodyOf(path: string): Body {
  const { schema } = document.paths[path].post.requestBody.content['application/json'];
  const name: string | undefined = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}

const paths = [
  '/v1/videos/generations',
  '/v1/videos/generations/estimate',
  '/v1/images/generations',
  '/v1/images/edits',
  '/admin/v1/accounts',
  '/admin/v1/accounts/{account}/credits',
  '/admin/v1/keys',
  '/admin/v1/channels/{channel}',
  '/admin/v1/tasks/{task_id}/actions',
  '/admin/v1/routes/explain',
];

describe('the document', () => {
  it.each(paths)('POST %s accepts null exactly where a field is optional', (path) => {
    const { required = [], properties = {} } = bodyOf(path);
    const typed = Object.entries(properties).filter(([, field]) =>
      /"(?:type|anyOf)":/.test(JSON.stringify(field)),
    );
    const nullable = typed
      .filter(([, field]) => JSON.stringify(field).includes('"null"'))
      .map(([name]) => name);
    const optional = typed.map(([name]) => name).filter((name) => !required.includes(name));
    expect(nullable.toSorted()).toEqual(optional.toSorted());
  });

  it('an optional word of a list may also be null', () => {
    const inputType = bodyOf('/v1/videos/generations').properties?.['input_type'];
    expect(inputType).toMatchObject({ type: ['string', 'null'], enum: expect.arrayContaining([null]) });
  });

  it('a body is required if one of its fields is', () => {
    expect(paths.filter((path) => !document.paths[path].post.requestBody.required)).toEqual([
      '/admin/v1/accounts',
    ]);
  });
});

it('a form has the files of its create, and JSON has none', () => {
  const operations = Object.entries<{ post?: { requestBody?: { content: Record<string, object> } } }>(
    document.paths,
  );
  const forms = operations.flatMap(([path, { post }]) => {
    const content = post?.requestBody?.content ?? {};
    return 'multipart/form-data' in content && path !== '/v1/videos/{task_id}/remix'
      ? [[path, content] as const]
      : [];
  });
  const text = (schema: unknown): string => {
    const name = /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(schema))?.[1] ?? '';
    return JSON.stringify(document.components.schemas[name]);
  };
  expect(forms.map(([path]) => path).toSorted()).toEqual([
    '/v1/files',
    '/v1/images/edits',
    '/v1/images/generations',
    '/v1/images/generations/estimate',
    '/v1/videos',
  ]);
  for (const [path, { 'multipart/form-data': form, 'application/json': json }] of forms) {
    expect([path, text(form).includes('"binary"'), text(json).includes('"binary"')]).toEqual([
      path,
      true,
      false,
    ]);
    if (path !== '/v1/files') expect(text(form)).toContain('The object as JSON.');
  }
});
