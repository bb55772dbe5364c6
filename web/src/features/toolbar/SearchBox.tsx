import { Button, InputGroup } from '@blueprintjs/core';
import { CrossIcon, SearchIcon } from '@blueprintjs/icons';
import { maxSearchLength } from '@stowage/rules';
import { useRef } from 'react';
import { useScopedState } from '../../ui/useScopedState.js';
import { toolbarMessages as messages } from './messages.js';
import styles from './SearchBox.module.css';

export interface SearchBoxProps {
	/** The search term of the list; `''` for no search. */
	search: string;
	onSearch: (search: string) => void;
}

export function SearchBox({ search, onSearch }: SearchBoxProps) {
	// When the search in the URL changes, it replaces the typed text.
	const [typed, setTyped] = useScopedState<{ text: string }>(search);
	const field = useRef<HTMLInputElement>(null);
	const text = typed?.text ?? search;
	const change = (value: string) => setTyped({ text: value });
	const clear = () => {
		// The button disappears with the text that it clears.
		field.current?.focus();
		change('');
		if (search !== '') onSearch('');
	};
	return (
		<search className={styles.search}>
			<form
				className={styles.searchForm}
				onSubmit={(event) => {
					event.preventDefault();
					onSearch(text.trim());
				}}
			>
				<InputGroup
					inputRef={field}
					className={styles.searchField}
					aria-label={messages.search}
					placeholder={messages.search}
					type="search"
					enterKeyHint="search"
					autoComplete="off"
					maxLength={maxSearchLength}
					value={text}
					onValueChange={change}
					onKeyDown={(event) => {
						if (event.key !== 'Escape' || text === '') return;
						event.stopPropagation();
						clear();
					}}
					rightElement={
						text !== '' || search !== '' ? (
							<Button
								variant="minimal"
								size="small"
								icon={<CrossIcon size={14} />}
								aria-label={messages.clearSearch}
								onClick={clear}
							/>
						) : undefined
					}
				/>
				<Button type="submit" icon={<SearchIcon />} aria-label={messages.search} />
			</form>
		</search>
	);
}
