/** Longer ones are shown of no film. */
const maxName = 100;

/** The beginning of a name from a longer text, as a copy: a part of a text holds on to all of it for as long as it is kept. */
export const keptName = (name: string): string => Buffer.from(name.slice(0, maxName)).toString();
