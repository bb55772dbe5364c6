/** TrueType, OpenType and their collections, WOFF and WOFF2. */
const beginnings: readonly string[] = ['\0\x01\0\0', 'OTTO', 'true', 'ttcf', 'wOFF', 'wOF2'];

/** Whether a font begins like this. A browser draws a picture whatever type it has, also that of a font. */
export function isFont(bytes: Uint8Array): boolean {
	return beginnings.includes(String.fromCharCode(...bytes.subarray(0, 4)));
}

/** Whether a `data:` address has a font, of whatever type it is: older programs write `application/font-woff` and the like. */
export function isFontAddress(address: string): boolean {
	// As many letters as have the first bytes.
	const [, letters = ''] = /^data:[^,]{0,200};base64,([A-Za-z\d+/]{8})/i.exec(address) ?? [];
	return isFont(Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0)));
}
