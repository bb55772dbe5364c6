/** What the page shows of a book beside its text: it is laid out in the page itself. */
export const maxChapters = 5_000;
/** The lines of a table of contents on all levels, and the levels. */
export const maxTocItems = 5_000;
export const maxTocLevels = 9;
/** Characters of one line. */
export const maxLabel = 500;
/** Characters of a path within the book, with its fragment. */
export const maxAddress = 2_000;
