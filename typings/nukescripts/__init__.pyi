from nukescripts import panels as panels
