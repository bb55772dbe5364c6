/** What programs and cameras call each track of a kind, by the ends and the beginnings of these names. */
const ends =
	/(?:video|visual|sound|audio|subtitles?|text|data|media|metadata|captions?|time ?code|hint|stream|alias) ?handler?$/i;
const begins =
	/^(?:core media |iso ?media file|imported with gpac|gopro |dji[. ]|lavf|l-smash |mainconcept |bento4 |gpac |twitter-)/i;
/** Of HandBrake, and of programs that say the kind of track only. */
const words: ReadonlySet<string> = new Set([
	...['', 'mono', 'stereo', 'surround', 'video', 'audio', 'sound', 'subtitle', 'subtitles', 'text'],
]);

/** Whether the name of a track in MP4 or MOV, where people name theirs, too, is one that a program gives to all of a kind. */
export function isNameOfProgram(name: string): boolean {
	// QuickTime writes the length of the name before it.
	const text = (name < ' ' || name.startsWith('#') ? name.slice(1) : name).trim();
	return words.has(text.toLowerCase()) || ends.test(text) || begins.test(text);
}
