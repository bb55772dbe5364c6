/** More languages than a track has: broadcasts name two. A list of more, which may have millions, is compared as it is. */
const maxLanguages = 2;

/** What may be a language with its script, country and variant. To have all else refused would take ten times as long. */
const tag = /^[a-z]{2,3}(?:-[a-z\d]{2,8}){0,3}$/i;

/** A language as it is compared: `ger`, `deu` and `de` are one. Empty where nothing is said; a list of them for several. */
export function languageOf(said: string): string {
	const languages = said.split(',', maxLanguages + 1).map((each) => each.trim());
	if (languages.length > maxLanguages) return said.toLowerCase();
	return [...new Set(languages.map(canonical).filter((each) => each !== '' && each !== 'und'))].join();
}

function canonical(language: string): string {
	// Some containers have words.
	if (!tag.test(language)) return language.toLowerCase();
	try {
		return Intl.getCanonicalLocales(language)[0] ?? '';
	} catch {
		return language.toLowerCase();
	}
}

/** What a container says of the language of a track. */
export interface SaidLanguage {
	/** Tracks of other kinds are told apart by that. */
	kind: string;
	/** By the element that all programs read, of three letters. */
	plain: string;
	/** By a newer one that may say more, such as `es-419`; empty where there is none. */
	full: string;
}

/** Whether newer elements say more of the languages of tracks than those that all programs read. */
export function isMoreSaid(tracks: readonly SaidLanguage[]): boolean {
	const told = tracks.map(({ kind, plain, full }) => {
		const [common, language] = [languageOf(plain), languageOf(full)];
		const [base = ''] = (language || common).split('-');
		return { common, language, base, alike: `${kind} ${base}` };
	});
	const counts = new Map<string, number>();
	for (const { alike } of told) counts.set(alike, (counts.get(alike) ?? 0) + 1);
	// A country or script tells a track from others of its kind in the same language only.
	return told.some(
		({ common, language, base, alike }) =>
			language !== '' && (base !== common || (base !== language && counts.get(alike) !== 1)),
	);
}
