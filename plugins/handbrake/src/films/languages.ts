/** A language as it is compared: `ger`, `deu` and `de` are one. Empty where nothing is said; a list of them for several. */
export function languageOf(said: string): string {
	const languages = said.split(',').map((each) => canonical(each.trim()));
	return [...new Set(languages.filter((each) => each !== '' && each !== 'und'))].join();
}

function canonical(language: string): string {
	try {
		return Intl.getCanonicalLocales(language)[0] ?? '';
	} catch {
		// Some containers have words.
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
	return tracks.some(({ kind, plain, full }) => {
		const language = languageOf(full);
		const [base] = language.split('-');
		// Where the kind has one track, no country or script tells it from another one.
		const isOnly = tracks.filter((each) => each.kind === kind).length === 1;
		return language !== '' && (base !== languageOf(plain) || !(isOnly || base === language));
	});
}
