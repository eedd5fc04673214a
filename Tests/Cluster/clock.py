def clock(*_):
    pass
