/** The JSON that a program printed; undefined where that was cut off, as the program was killed: then nothing is known of the file. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
