/** Models from local mode's configuration, so that the OpenAPI document's examples work there unchanged. */
export const exampleModels = { video: 'seedance-2.5', image: 'gpt-image-2.5-flare' } as const;
