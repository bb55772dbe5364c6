import { Button, InputGroup } from '@blueprintjs/core';
import { CrossIcon, SearchIcon } from '@blueprintjs/icons';
import { maxSearchLength } from '@stowage/rules';
import { type RefObject, useRef } from 'react';
import type { Search } from '../../../api/listings/search.js';
import { useScopedState } from '../../../ui/useScopedState.js';
import { toolbarMessages as messages } from '../messages.js';
import { Filters } from './Filters.js';
import styles from './SearchBox.module.css';

export interface SearchBoxProps extends Search {
	/** Another term, other filters, or both. */
	onSearch: (search: Partial<Search>) => void;
	filtersButton: RefObject<HTMLButtonElement | null>;
}

export function SearchBox({ search, filters, onSearch, filtersButton }: SearchBoxProps) {
	// When the search in the URL changes, it replaces the typed text.
	const [typed, setTyped] = useScopedState<{ text: string }>(search);
	const field = useRef<HTMLInputElement>(null);
	const text = typed?.text ?? search;
	const change = (value: string) => setTyped({ text: value });
	const clear = () => {
		// The button disappears with the text that it clears.
		field.current?.focus();
		change('');
		if (search !== '') onSearch({ search: '' });
	};
	return (
		<search className={styles.search}>
			<form
				className={styles.searchForm}
				onSubmit={(event) => {
					event.preventDefault();
					onSearch({ search: text.trim() });
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
			<Filters
				buttonRef={filtersButton}
				filters={filters}
				onApply={(applied) => onSearch({ search: text.trim(), filters: applied })}
			/>
		</search>
	);
}
