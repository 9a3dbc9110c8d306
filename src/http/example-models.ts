/** Models from local mode's configuration, so that the examples in the OpenAPI document work there unchanged. */
export const exampleModels = { video: 'seedance-2.5', image: 'gpt-image-2.5-flare' } as const;
