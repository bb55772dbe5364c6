/** Made when it is first used: that takes longer than most commands need for their own work. */
let collator: Intl.Collator | undefined;

/** The order of names for people: natural (`file2` before `file10`), and without regard to case and accents. */
export function collate(a: string, b: string): number {
	collator ??= new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
	return collator.compare(a, b);
}

/**
 * The Tibetan sign that makes a vowel long. The collator looks at all marks behind it, for each of which it takes a
 * microsecond and more.
 */
const longVowel = '\u0f71';

/** More than a name has. */
const maxLongVowels = 8;

/** More marks that the collator ignores than a name has whose order depends on them (й, أ). */
const maxIgnoredMarks = 16;

/** More characters than a name has. */
const maxCollated = 1024;

/** More than the compatibility decomposition adds to a name: the collator takes a single character (ﷺ) for up to eighteen. */
const maxExpansion = 254;

/** What is compared of names that have more of it. */
const expandedLength = 32;

/**
 * The text by which the collator is to compare a name: in an order of marks that it need not find anew with each comparison, of many long
 * vowels none, of many marks that it ignores none, and of a path or of many characters that it takes for several only the beginning.
 * Names without these are in the same order by their texts as by themselves, and so are all that have a key, which compares as they do.
 */
export function collationText(name: string, key: string | undefined = nameKey(name)): string {
	if (key !== undefined) return name.normalize('NFD');
	let text = name.slice(0, maxCollated).normalize('NFD');
	if (text.split(longVowel, maxLongVowels + 2).length > maxLongVowels + 1) text = text.replaceAll(longVowel, '');
	text = withoutManyIgnored(text);
	const expansion = text.normalize('NFKD').length - text.length;
	return expansion > maxExpansion ? text.slice(0, expandedLength) : text;
}

/** The marks of one letter, and the letter itself where it is Latin: no mark makes that another one. */
const marked = /([A-Za-z]?)(\p{M}+)/gu;

/** The collator looks at each mark behind a letter that some mark makes another one, which takes longer than all else. */
function withoutManyIgnored(text: string): string {
	let ofLatin = 0;
	let ofOthers = 0;
	for (const [, letter, marks] of text.matchAll(marked)) {
		const ignored = [...(marks as string)].filter(isIgnored).length;
		if (letter) ofLatin += ignored;
		else ofOthers += ignored;
	}
	if (ofLatin + ofOthers <= maxIgnoredMarks) return text;
	return text.replace(marked, (all, letter: string, marks: string) =>
		letter || ofOthers > maxIgnoredMarks ? letter + [...marks].filter((each) => !isIgnored(each)).join('') : all,
	);
}

/** Found once each: there are some two thousand. */
const ignoredMarks = new Map<string, boolean>();

function isIgnored(each: string): boolean {
	let found = ignoredMarks.get(each);
	if (found === undefined) {
		found = collate(each, '') === 0;
		ignoredMarks.set(each, found);
	}
	return found;
}

/**
 * The characters that the collator weighs one by one, but for Han. Others (ß and æ, which it takes for two, emoji, scripts in which
 * neighbours change each other) have no key.
 */
const weighedAlone =
	/[ -~À-ÅÇ-Þà-åç-ÿĀ-ıĴ-ľŁ-ňŊ-őŔ-žẠ-ỹΆ-ώЀ-џぁ-ゖァ-ヺ\u1100-\u1112\u1161-\u1175\u11A8-\u11C2]|[\u0300-\u0362]/;

/** Unassigned code points of Unicode sort after all others. */
const unassigned = /\p{Cn}/u;

/** Han characters sort after all others. */
const firstHan = 0x4e00;
const lastHan = 0x9fff;

const ascii = /^[ -~]*$/;
const zero = 0x30;
const nine = 0x39;

/** The collator splits longer runs of digits into parts of 254. */
const maxNameLength = 254;

/** Places of characters by their code units: 0 for those that the collator ignores, `noRank` for those that have no key. */
let ranks: Uint16Array | undefined;
const noRank = 0xffff;
let hasHan = false;

/** A digit by itself makes three units, any other character one. */
const units = new Uint16Array(3 * maxNameLength);

/**
 * A key that compares by `<` with other keys as the collator compares the names, which makes a sort more than three times faster. A name
 * with characters that the collator does not weigh one by one has none and must be compared by the collator.
 */
export function nameKey(name: string): string | undefined {
	if (name.length > maxNameLength) return undefined;
	ranks ??= rankCharacters();
	const spelled = ascii.test(name) ? name : normalize(name);
	return spelled.length > maxNameLength ? undefined : keyOf(spelled, ranks);
}

/** The name in the form whose characters are weighed one by one: composed letters, and Hangul as its parts. */
function normalize(name: string): string {
	return name.normalize('NFC').replace(/[가-힣]+/g, (syllables) => syllables.normalize('NFD'));
}

function rankCharacters(): Uint16Array {
	const ranked = new Uint16Array(0x10000).fill(noRank);
	rankAll(ranked, 0, firstHan - 1, (character) => weighedAlone.test(character) && !unassigned.test(character));
	return ranked;
}

/** There are twenty thousand: they are ranked once the first of them is met. */
function rankHan(ranked: Uint16Array): void {
	const last = ranked.reduce((highest, rank) => (rank === noRank ? highest : Math.max(highest, rank)), 0);
	rankAll(ranked, firstHan, lastHan, () => true, last);
	hasHan = true;
}

function rankAll(
	ranked: Uint16Array,
	first: number,
	last: number,
	isRanked: (character: string) => boolean,
	after = 0,
): void {
	const characters: string[] = [];
	for (let unit = first; unit <= last; unit++) {
		const character = String.fromCharCode(unit);
		if (isRanked(character)) characters.push(character);
	}
	let rank = after;
	let previous = '';
	for (const character of characters.sort(collate)) {
		if (collate(previous, character) !== 0) rank++;
		ranked[character.charCodeAt(0)] = rank;
		previous = character;
	}
}

function keyOf(name: string, ranked: Uint16Array): string | undefined {
	let length = 0;
	let at = 0;
	while (at < name.length) {
		const unit = name.charCodeAt(at);
		if (!isDigit(unit)) {
			if (!hasHan && unit >= firstHan && unit <= lastHan) rankHan(ranked);
			const rank = ranked[unit] as number;
			if (rank === noRank) return undefined;
			if (rank > 0) units[length++] = rank;
			at++;
			continue;
		}
		// A number: the rank of digits, then how many there are without leading zeros, then these.
		units[length++] = ranked[zero] as number;
		while (name.charCodeAt(at) === zero) at++;
		const counted = length++;
		for (; isDigit(name.charCodeAt(at)); at++) units[length++] = name.charCodeAt(at);
		units[counted] = length - counted - 1;
	}
	return String.fromCharCode.apply(null, units.subarray(0, length) as unknown as number[]);
}

function isDigit(unit: number): boolean {
	return unit >= zero && unit <= nine;
}
