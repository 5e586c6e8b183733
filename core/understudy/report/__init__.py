"""Reports: what a run says and leaves behind while it trains. Receives a step's result and never reaches back."""
