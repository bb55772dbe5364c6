/**
 * The protocol between the server and the child that renders pictures. A request is eight bytes, then the file; a response is five bytes,
 * then its content.
 */

/** The longest edge in pixels, and how many bytes the file has. */
export const requestHeaderBytes = 8;

export function requestHeader(size: number, length: number): Buffer {
	const header = Buffer.alloc(requestHeaderBytes);
	header.writeUInt32LE(size, 0);
	header.writeUInt32LE(length, 4);
	return header;
}

export function parseRequestHeader(header: Buffer): { size: number; length: number } {
	return { size: header.readUInt32LE(0), length: header.readUInt32LE(4) };
}

/** The exit code of a child that lacks threads or descriptors for the moment (EX_TEMPFAIL). */
export const lackingCode = 75;

/** `ready` once, when everything is loaded and has made a picture; then one answer for each request. */
export const answers = ['ready', 'picture', 'none'] as const;

export type Answer = (typeof answers)[number];

export const answerHeaderBytes = 5;

export function answerHeader(answer: Answer, length: number): Buffer {
	const header = Buffer.alloc(answerHeaderBytes);
	header.writeUInt8(answers.indexOf(answer), 0);
	header.writeUInt32LE(length, 1);
	return header;
}

export function parseAnswerHeader(header: Buffer): { answer: Answer | undefined; length: number } {
	return { answer: answers[header.readUInt8(0)], length: header.readUInt32LE(1) };
}
