declare module 'epubjs/src/epub/packaging.js' {
	/** The part of epubjs that reads a book's package; it takes the elements of a parsed document. */
	export default class Packaging {
		constructor(document: Document | undefined);
		manifest: Record<string, { href: string; type: string; properties: string[] }>;
		navPath: string;
		ncxPath: string;
		spine: { idref: string; linear: string }[];
		metadata: { title?: string; creator?: string; description?: string; publisher?: string; language?: string };
		parseManifest(element: Element): Packaging['manifest'];
		parseSpine(element: Element, manifest: Packaging['manifest']): Packaging['spine'];
		parseMetadata(element: Element): Packaging['metadata'];
		findNavPath(element: Element): string | false;
		findNcxPath(manifest: Element, spine: Element): string | false;
	}
}
