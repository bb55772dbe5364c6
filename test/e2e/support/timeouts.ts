/** How long a page may take for anything but an upload on the slowest machine. */
export const timeoutMs = 60_000;
export const uploadTimeoutMs = 5 * timeoutMs;
