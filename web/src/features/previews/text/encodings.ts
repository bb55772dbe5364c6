/** The encodings to choose from, by their names in browsers. */
export const encodings = [
	'UTF-8',
	'UTF-16LE',
	'UTF-16BE',
	'windows-1252',
	'ISO-8859-2',
	'ISO-8859-15',
	'windows-1250',
	'windows-1251',
	'KOI8-R',
	'windows-1253',
	'windows-1254',
	'windows-1255',
	'windows-1256',
	'Shift_JIS',
	'EUC-JP',
	'ISO-2022-JP',
	'GB18030',
	'Big5',
	'EUC-KR',
] as const;

export type Encoding = (typeof encodings)[number];

const otherNames: Readonly<Record<string, Encoding>> = {
	ASCII: 'UTF-8',
	'ISO-8859-1': 'windows-1252',
	'ISO-8859-5': 'windows-1251',
	'ISO-8859-6': 'windows-1256',
	'ISO-8859-7': 'windows-1253',
	'ISO-8859-8': 'windows-1255',
	'ISO-8859-9': 'windows-1254',
	GB2312: 'GB18030',
};

/** The encoding of a text: by its byte order mark, UTF-8 if it is valid throughout, else the result of `guess`. */
export async function encodingOf(bytes: Uint8Array, guess: () => Promise<readonly string[]>): Promise<Encoding> {
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16LE';
	if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16BE';
	if (isUtf8(bytes)) return 'UTF-8';
	for (const name of await guess()) {
		const known = otherNames[name] ?? encodings.find((each) => each.toLowerCase() === name.toLowerCase());
		// It is no UTF-8, whatever the guess.
		if (known !== undefined && known !== 'UTF-8') return known;
	}
	return 'windows-1252';
}

export function decode(bytes: Uint8Array, encoding: Encoding): string {
	return new TextDecoder(encoding).decode(bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
	try {
		new TextDecoder('utf-8', { fatal: true }).decode(bytes);
		return true;
	} catch {
		return false;
	}
}
