import { extensionOf, fileType } from '@stowage/rules';

/** Extensions that are no names of the highlighter. */
const languages: Readonly<Record<string, string>> = {
	htm: 'xml',
	html: 'xml',
	xhtml: 'xml',
	svg: 'xml',
	xsl: 'xml',
	xslt: 'xml',
	xsd: 'xml',
	plist: 'xml',
	vue: 'xml',
	svelte: 'xml',
	mjs: 'javascript',
	cjs: 'javascript',
	jsonc: 'json',
	json5: 'json',
	ndjson: 'json',
	geojson: 'json',
	ipynb: 'json',
	h: 'c',
	hpp: 'cpp',
	hxx: 'cpp',
	cxx: 'cpp',
	m: 'objectivec',
	mm: 'objectivec',
	pl: 'perl',
	pm: 'perl',
	conf: 'ini',
	cfg: 'ini',
	properties: 'ini',
	env: 'ini',
	editorconfig: 'ini',
	desktop: 'ini',
	service: 'ini',
	bat: 'plaintext',
	tex: 'plaintext',
};

const names: Readonly<Record<string, string>> = {
	makefile: 'makefile',
	'.gitconfig': 'ini',
	'.editorconfig': 'ini',
	'.npmrc': 'ini',
	'.env': 'ini',
	'.bashrc': 'bash',
	'.bash_profile': 'bash',
	'.profile': 'bash',
	'.zshrc': 'bash',
};

/** A longer text would be slow to draw in colours. */
export const maxHighlighted = 256 * 1024;

/** The language of a source text; undefined for prose. */
export function languageOf(name: string): string | undefined {
	const known = name.toLowerCase();
	if (Object.hasOwn(names, known)) return names[known];
	const extension = extensionOf(name);
	if (['diff', 'patch'].includes(extension)) return 'diff';
	if (extension === 'svg') return 'xml';
	if (!['code', 'script', 'config', 'markdown'].includes(fileType(name))) return undefined;
	return languages[extension] ?? extension;
}
