/** The texts of the editor. */
export const editorMessages = {
	edit: 'Edit',
	done: 'Done',
	save: 'Save',
	undo: 'Undo',
	redo: 'Redo',
	find: 'Find and replace',
	controls: 'Editor controls',
	textOf: (name: string) => `Text of ${name}`,
	tabHint: 'Tab indents. After Ctrl+M, or Shift+Option+M on a Mac, it leaves the text.',

	mixedEnds: 'mixed line ends',
	saved: (name: string) => `Saved ${name}`,
	savedAs: (name: string) => `Saved as ${name}`,
	saveFailed: 'It could not be saved. The text is kept in this page.',
	sessionEnded: 'Your session has ended. Sign in again to save; the text is kept in this page.',
	otherUser: (name: string) => `Sign in as ${name} to save; the text is kept in this page.`,
	signIn: 'Sign In',
	cannotOpen: (name: string) => `${name} could not be opened for editing`,
	wouldLose: (encoding: string) =>
		`Some of its bytes mean nothing in ${encoding} and would be lost. Choose its encoding first.`,

	searchTroubles: {
		tooSlow: 'This takes too long to find in this text.',
		notLoaded: 'The search could not be loaded. Try again.',
	},
	lineTooLong: 'One of its lines is too long to be edited here.',

	unsaved: 'Unsaved changes',
	unsavedQuestion: (name: string) => `${name} has changes that are not saved.`,
	discard: 'Discard',
	cancel: 'Cancel',

	changed: 'Changed meanwhile',
	changedQuestion: (name: string) =>
		`${name} was changed by somebody else since you opened it. Overwrite replaces that by your text; Discard shows it instead of yours.`,
	goneQuestion: (name: string) => `${name} was moved or deleted since you opened it. Overwrite makes it again.`,
	overwrite: 'Overwrite',
	saveCopy: 'Save a copy',

	encoding: 'Encoding',
	lacks: (character: string, encoding: string) => `${encoding} has no letter for “${character}”.`,
	lacksSome: (encoding: string) => `This text can't be written in ${encoding} without a loss.`,
	utf8Has: 'UTF-8 has every letter, but programs that expect the former encoding may show the text wrongly.',
	saveAsUtf8: 'Save as UTF-8',

	controlCharacter: (code: string) => `Control character U+${code}`,
	phrases: {
		Find: 'Find',
		Replace: 'Replace with',
		next: 'Next',
		previous: 'Previous',
		all: 'Select all',
		'match case': 'Match case',
		regexp: 'Regular expression',
		'by word': 'Whole words',
		replace: 'Replace',
		'replace all': 'Replace all',
		close: 'Close find',
	},
} as const;
