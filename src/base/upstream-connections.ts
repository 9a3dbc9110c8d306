/** The most connections that one client opens to an upstream's origin. Further calls wait for one. */
export const connectionsPerOriginMax = 256;
