/** The characters around each value in a style sheet or a page, such as a selector and its brackets. */
const aroundRule = 100;
/** The characters made of a mark in the text of a list, such as `%1`, beside the name of the list. */
const aroundMark = 60;
const rulesOfLevel = 4;

type Values = Readonly<Record<string, unknown>>;

/** A style as docx-preview has read it. */
export interface WordStyle {
	id?: string | null;
	/** The one whose values it gets as well. */
	basedOn?: string | null;
	/** The one whose rules are written for it as well. */
	linked?: string | null;
	styles?: readonly { values?: Values }[];
}

/** A level of a list, once for each list that has it. */
export interface WordLevel {
	id?: string | null;
	levelText?: string | null;
	format?: string | null;
	pStyle?: Values;
	rStyle?: Values;
	bullet?: { style?: unknown } | null;
}

/**
 * The characters of all rules that are made of the styles, at most: each has those of the one that it is based on, and of its linked one.
 * In the order of docx-preview, by which a style gets what the one before it has got.
 */
export function charactersOfStyles(styles: readonly WordStyle[]): number {
	const known = new Map(styles.map((style) => [style.id, style]));
	const made = new Map(
		styles.map((style) => {
			const rules = style.styles ?? [];
			return [style, { rules: rules.length, characters: sum(rules, ({ values }) => charactersIn(values)) }];
		}),
	);
	const of = (id: string | null | undefined) => {
		const style = id ? known.get(id) : undefined;
		return (style && made.get(style)) ?? { rules: 0, characters: 0 };
	};
	for (const style of styles) {
		const base = of(style.basedOn);
		const own = made.get(style);
		if (!own) continue;
		own.rules += base.rules;
		own.characters += base.characters;
	}
	return sum(styles, (style) => {
		const own = made.get(style) ?? { rules: 0, characters: 0 };
		const linked = of(style.linked);
		return (own.rules + linked.rules) * (aroundRule + lengthOf(style.id)) + own.characters + linked.characters;
	});
}

/** The characters of all rules that are made of the levels of lists, at most. */
export function charactersOfLevels(levels: readonly WordLevel[]): number {
	return sum(levels, ({ id, levelText, format, pStyle, rStyle, bullet }) => {
		const rules = rulesOfLevel * (aroundRule + lengthOf(id));
		const text = lengthOf(levelText) * (aroundMark + lengthOf(id) + lengthOf(format));
		return rules + text + lengthOf(format) + charactersIn(pStyle) + charactersIn(rStyle) + lengthOf(bullet?.style);
	});
}

/** The characters of all texts among these values, and of their names. */
export const charactersIn = (values: object | undefined): number =>
	values === undefined ? 0 : sum(Object.entries(values), ([name, value]) => name.length + lengthOf(value));

const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : 0);

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
	items.reduce((total, item) => total + of(item), 0);
