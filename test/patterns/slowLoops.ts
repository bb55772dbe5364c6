/** Code that takes the square of a number that somebody outside may make large, and what to write in its place. */
const shapes: readonly { shape: RegExp; advice: string }[] = [
	{
		shape: /\.reduce(?:<\w+>)?\(\s*\((\w+)[^)]*\)\s*=>\s*(?:joinPath|parsePath)\(\s*\1\b/g,
		advice: 'a path is checked anew for each of its levels: joinPath takes all of them at once',
	},
	{
		shape: /\b(\w+) = joinPath\(\s*\1\b/g,
		advice: 'a path is checked anew for each of its levels: pathsTo cuts them from it',
	},
	{
		shape: /\.slice\(0, \w+(?: [+-] 1)?\)\.join\(\s*'\/'/g,
		advice: 'the folders above a path are joined anew for each level: pathsTo cuts them from it',
	},
	{
		shape: /\.(?:map|flatMap|forEach)\(\s*\((?:\w+|\[[^\]]*\]|\{[^}]*\}), (\w+)\)\s*=>[^;]*?\.slice\(0, \1\b/g,
		advice: 'all before an item is copied for each item: pathsTo cuts the folders above from a path',
	},
	{
		shape: /\bfor \(const \[(\w+)\b[^\]]*\] of [^\n]*\.entries\(\)\)(?:(?!\bfor \()[\s\S]){0,300}?\.slice\(0, \1\b/g,
		advice: 'all before an item is copied for each item: what was made of the one before is added to',
	},
	{
		shape: /\bfor \(let (\w+) = (?:(?!\bfor \()[\s\S]){0,300}?\.slice\(0, \1\b[^()]*\)\.join\(/g,
		advice: 'all before an item is joined anew for each item: what was made of the one before is added to',
	},
	{
		shape: /\.set\(\s*(\w+|[^,()]+),\s*\[\s*\.\.\.\(?[\w.#]+\.get\(/g,
		advice: 'a list is copied for each of its items: addTo adds to it',
	},
	{
		shape: /\bconst (\w+) = [\w.#]+\.get\([^;]*;(?:(?!\n\})[\s\S]){0,400}?\.set\([^;]*,\s*\[\s*\.\.\.\1,/g,
		advice: 'a list is copied for each of its items: addTo adds to it',
	},
	{
		shape:
			/\bconst \{[^}]*\b(\w+)\b[^}]*\} = [\w.#]+\.get\([^;]*;(?:(?!\n\})[\s\S]){0,400}?\.set\([^;]*\[\s*\.\.\.\1,/g,
		advice: 'a list is copied for each of its items: addTo adds to it',
	},
	{
		shape: /(?<!typeof )\b(\w+) = (?:\1\.concat\(|\[\s*\.\.\.\1,)/g,
		advice: 'a list is copied for each of its items: push adds to it',
	},
	{
		shape: /\.reduce(?:<[^()]*>)?\(\s*\((\w+)[^)]*\)\s*=>\s*(?:\(?\{|\[)\s*\.\.\.\1\b/g,
		advice: 'all that was collected is copied for each further item: a loop adds to it',
	},
];

/** The lines of a source with such code. */
export function findSlowLoops(text: string): { line: number; advice: string }[] {
	return shapes.flatMap(({ shape, advice }) =>
		[...text.matchAll(shape)].map(({ index }) => ({ line: text.slice(0, index).split('\n').length, advice })),
	);
}
