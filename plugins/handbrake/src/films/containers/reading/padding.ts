/** The most bytes of a program's name and version in padding. */
export const maxNameOfProgram = 100;

/** Programs that write their name there, each at its beginning. What a camera writes begins otherwise. */
const programs: readonly RegExp[] = [
	/^(?:virtualdub|nandub|avi-?mux|\[= mplayer|mencoder|avidemux|handbrake|lav[cf]\d|x26[45] )/i,
	/^(?:mp4v2|gpac|isomedia file produced|multiplexed by l-smash|mkvmerge|libebml)/i,
];

/**
 * The most bytes of all padding of a film that may be anything: some programs begin it with another value, or leave a few bytes as they
 * were. It is less than a place and its time.
 */
const mostOthers = 16;

/** What the padding of a film has beside one value again and again. Cameras write positions there, a few bytes at a time. */
export class Padding {
	#name = '';
	#others = 0;

	/** Takes the beginning of padding. Returns the length of a program's name there; a film has one, which may be there again. */
	takeName(head: Buffer): number {
		const [text = ''] = /^[ -~]*/.exec(head.toString('latin1', 0, maxNameOfProgram)) ?? [];
		const name = text.trimEnd();
		if (!programs.some((program) => program.test(name)) || (this.#name !== '' && this.#name !== name)) return 0;
		this.#name = name;
		return name.length;
	}

	/** Takes bytes of padding. Returns whether they have data: with all those before they are more than one value again and again. */
	take(bytes: Buffer, value = bytes.at(-1)): boolean {
		const isOneValue = bytes[0] === value && bytes.subarray(1).equals(bytes.subarray(0, -1));
		if (isOneValue) return false;
		for (const byte of bytes) if (byte !== value) this.#others++;
		return this.#others > mostOthers;
	}
}
