const beginning = '<w:lang';
const longestTag = 500;

/** The language that the styles of a document declare. Of each tag only as much is read as an ordinary one has. */
export function languageIn(styles: string): string | undefined {
	for (let at = styles.indexOf(beginning); at !== -1; at = styles.indexOf(beginning, at + beginning.length)) {
		const [tag = ''] = styles.slice(at + beginning.length, at + longestTag).split('>', 1);
		const [, value = ''] = /\sw:val="([\w-]+)"/.exec(tag) ?? [];
		if (/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*$/.test(value)) return value;
	}
	return undefined;
}
