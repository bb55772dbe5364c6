/** Characters of an address that a link may lead to: a browser's own are not longer. */
export const maxLink = 10_000;
