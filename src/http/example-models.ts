/** Local mode has these models, so the examples in the OpenAPI document work there unchanged. */
export const exampleModels = { video: 'seedance-2.5', image: 'gpt-image-2.5-flare' } as const;
