import { HotkeysProvider } from '@blueprintjs/core';
import { Table, type TableProps } from '@blueprintjs/table';
import '../blueprintTable.css';

/** Blueprint's table with all that it asks for. A list of its keys is not shown. */
export function DataTable(props: TableProps) {
	return (
		<HotkeysProvider renderDialog={() => <></>}>
			<Table {...props} />
		</HotkeysProvider>
	);
}
