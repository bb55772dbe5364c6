import {
	Decoration,
	type DecorationSet,
	type EditorView,
	ViewPlugin,
	type ViewUpdate,
	WidgetType,
} from '@codemirror/view';
import { editorMessages as messages } from './messages.js';

/** Controls, and what has no width or turns the direction of a text: a reader would not know that they are there. */
const special = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffc]/g;

/** Marks that are drawn at once: the time of CodeMirror grows with the square of how many there are in a line. */
const maxMarks = 1000;

/** Draws a mark in the place of each special character on the screen; of more than `maxMarks` the rest stays as it is. */
export const specialCharacters = ViewPlugin.fromClass(
	class {
		decorations: DecorationSet;

		constructor(view: EditorView) {
			this.decorations = marksOf(view);
		}

		update({ docChanged, viewportChanged, view }: ViewUpdate) {
			if (docChanged || viewportChanged) this.decorations = marksOf(view);
		}
	},
	{ decorations: ({ decorations }) => decorations },
);

function marksOf({ visibleRanges, state }: EditorView): DecorationSet {
	const marks = [];
	for (const { from, to } of visibleRanges) {
		for (const { index, 0: character } of state.doc.sliceString(from, to).matchAll(special)) {
			if (marks.length === maxMarks) return Decoration.set(marks);
			const at = from + index;
			marks.push(Decoration.replace({ widget: new Mark(character.charCodeAt(0)) }).range(at, at + 1));
		}
	}
	return Decoration.set(marks);
}

class Mark extends WidgetType {
	constructor(readonly code: number) {
		super();
	}

	override eq({ code }: Mark): boolean {
		return code === this.code;
	}

	override toDOM(): HTMLElement {
		const mark = document.createElement('span');
		mark.className = 'cm-specialChar';
		// Of C0 the picture that Unicode has for each.
		mark.textContent = this.code < 0x20 ? String.fromCharCode(0x2400 + this.code) : '•';
		mark.title = messages.controlCharacter(this.code.toString(16).toUpperCase().padStart(4, '0'));
		mark.setAttribute('aria-label', mark.title);
		return mark;
	}

	override ignoreEvent(): boolean {
		return false;
	}
}
