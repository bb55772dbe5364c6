/**
 * What the page shows of a document beside its pages: the lines of its outline on all levels, the levels, and the
 * characters of one line.
 */
export const maxOutlineItems = 5_000;
export const maxOutlineLevels = 9;
export const maxTitle = 500;
/**
 * Longer than opening any ordinary file and reading any page of it takes on a slow machine, without the time of its
 * bytes. The page shows something meanwhile.
 */
export const maxSilentSeconds = 30;
