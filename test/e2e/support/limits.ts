/** How long a page may take for anything on the slowest machine, in milliseconds; only an upload may take longer. */
export const patience = 60_000;
export const uploadPatience = 5 * patience;
